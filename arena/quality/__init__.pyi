from .judge_label import label_judge as label_judge
from .judge_report import JudgeLabel as JudgeLabel
