"""Boards for readers: site, figures, exports.

Site:     write_site
Figures:  draw_ratings, draw_win_matrix, rank_heat_map, importance_boxes,
          importance_intervals, feature_lollipops, sampling_curves, memerag_bars, error_heat_map,
          draw_unit_tests, draw_confusions, and save
Exports:  csv_text, json_text, markdown_table, latex_table, write_export, exported_board,
          model_card, dataset_card
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
