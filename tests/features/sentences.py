"""One sentence in each language of MIRACL: Paris is the capital and largest city."""

SENTENCES = {
    "ar": "عاصمة فرنسا هي باريس وهي أكبر مدنها من حيث عدد السكان.",
    "bn": "ফ্রান্সের রাজধানী প্যারিস এবং এটি দেশের বৃহত্তম শহর।",
    "de": "Die Hauptstadt von Frankreich ist Paris, die größte Stadt des Landes.",
    "en": "The capital of France is Paris, which is the largest city of the country.",
    "es": "La capital de Francia es París, que es la ciudad más grande del país.",
    "fa": "پایتخت فرانسه پاریس است که بزرگ‌ترین شهر این کشور نیز می‌باشد.",
    "fi": "Ranskan pääkaupunki on Pariisi, joka on myös maan suurin kaupunki.",
    "fr": "La capitale de la France est Paris, qui est la plus grande ville du pays.",
    "hi": "फ्रांस की राजधानी पेरिस है और यह देश का सबसे बड़ा शहर है।",
    "id": "Ibu kota Prancis adalah Paris, yang merupakan kota terbesar di negara itu.",
    "ja": "フランスの首都はパリであり、国内で最も大きな都市です。",
    "ko": "프랑스의 수도는 파리이며 나라에서 가장 큰 도시이다.",
    "ru": "Столица Франции — Париж, самый большой город страны.",
    "sw": "Mji mkuu wa Ufaransa ni Paris, ambao ni mji mkubwa zaidi nchini humo.",
    "te": "ఫ్రాన్స్ రాజధాని పారిస్ మరియు ఇది దేశంలోని అతిపెద్ద నగరం.",
    "th": "เมืองหลวงของฝรั่งเศสคือปารีส ซึ่งเป็นเมืองที่ใหญ่ที่สุดในประเทศ",
    "yo": "Olú-ìlú orílẹ̀-èdè Faransé ni Párísì, ó sì jẹ́ ìlú tó tóbi jùlọ ní orílẹ̀-èdè náà.",
    "zh": "法国的首都是巴黎，它也是该国最大的城市。",
}
