from .judge_label import JudgeLabel as JudgeLabel
from .judge_label import label_judge as label_judge
from .people_agreement import PeopleAgreement as PeopleAgreement
