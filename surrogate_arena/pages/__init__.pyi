from .exports import export_text as export_text
from .figures.board_figures import draw_ratings as draw_ratings
from .figures.board_figures import rank_heat_map as rank_heat_map
from .figures.figure import save as save
from .site import write_site as write_site
