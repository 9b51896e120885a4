from .surrogate_judge import SurrogateJudge as SurrogateJudge
