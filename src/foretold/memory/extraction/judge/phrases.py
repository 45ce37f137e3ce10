"""What phrases mean to the judge: a table with a row for each language, and the patterns made of it.

Patterns are matched against folded text (`words.fold_text`): lower case, no accents. `denying` and `common` are words.
"""

from __future__ import annotations

import re

TABLE: dict[str, dict[str, str]] = {
    # words that deny; all of them count as one word
    "denying": {
        "en": "not never no none nobody without dont doesnt isnt cannot cant wont shouldnt mustnt arent forbidden"
        " forbid forbids avoid stop",
        "de": "nicht kein keine keinen keiner nie niemals ohne niemand verboten",
        "fr": "pas jamais sans aucun interdit ne non",
        "es": "nunca sin jamas tampoco",
        "pt": "nao sem",
        "it": "mai senza",
        "ru": "нет не никогда без",
        "pl": "nie bez",
    },
    # words without meaning for a comparison; those of English are the stop words of recall
    "common": {
        "de": "aber als am an auch auf aus bei bin bitte das dass dem den der des die dies diese dieser du ein eine"
        " einem einen einer er es fur haben hat hier ich ihr im in ist ja kann man mich mir mit muss nach noch nur oder"
        " sich sie sind so soll sollen sollte sondern um und uns unser unsere vom von vor war wenn werden wie wir wird"
        " zu zum zur immer",
        "fr": "au aux avec ce ces cette dans de des du elle en est et etre il ils je la le les leur lui ma mais me mes"
        " mon nous on ou par plus pour que qui sa se ses son sont sur ta te tes toi ton tu un une vous toujours",
        "es": "al como con cual del el ella ellos en es esa ese esta este ha hay la las lo los mas mi muy nos o para"
        " pero por que se si sobre son su sus te tu un una uno y ya siempre",
        "ru": "и в на с по что это мы вы я он она они как для из к у",
        # words that memories are made of, whatever they say
        "memories": "user users prefer prefers preferred preference preferences want wants wanted like likes liked ask"
        " asks asked say says said tell tells told remember note notes memory memories always please apply applies rule"
        " must need needs nutzer benutzer utilisateur usuario should shall let lets get gets sure thing things way"
        " every whenever instead rather",
    },
    # a message that confirms the one before it begins with one of these
    "yes": {
        "en": r"yes|yep|yeah|yup|exactly|precisely|right|correct|perfect|agreed|thats (?:it|right|how|what|the)|just so"
        r"|good (?:call|choice|idea|that|thinking)|keep (?:doing|it|that|this)|love (?:it|that|this|how)|remember th"
        r"|(?:please )?(?:always )?do (?:it|that) (?:like|this|that)",
        "de": "ja|genau|richtig|stimmt|perfekt|merk dir das",
        "fr": "oui|exact|parfait",
        "es": "si|exacto|perfecto",
        "pt": "sim|isso",
        "ru": "да|точно|верно",
        "ja zh ko": "はい|その通り|是的|对|没错|네|맞",
    },
    # a message that retracts the one before it begins with one of these
    "retraction": {
        "en": r"forget (?:that|it|this|what i)|never ?mind|scratch that|(?:i )?take (?:that|it) back"
        r"|dont (?:remember|save|store) (?:that|this|it)",
        "de": "vergiss (?:das|es)",
        "fr": "oublie[sz]? (?:ca|cela)",
        "es": "olvida(?:lo| eso)",
        "ru ja zh": "забудь|忘れて|忘掉",
    },
    # questions that ask for information begin with one of these; `could you` and `why not` are wishes
    "question": {
        "en": "who|whose|what|which|where|when|why(?! (?:dont|not|cant))|how(?! about)|is|are|does|do|did|was|were|has"
        "|have",
        "de": "wer|wessen|welche[rsnm]?|wo|wann|warum|weshalb|wie|ist|sind",
        "fr": "qui|que|quoi|ou|quand|pourquoi|comment",
        "es": "quien|cual|donde|cuando|como|por que",
    },
    # questions that cannot be answered with yes or no
    "open question": {
        "en": "who|whose|what|which|where|when|how",
        "de": "wer|wessen|welche[rsnm]?|wo|wann|wie|was",
        "fr": r"qui|que|quel\w*|ou|quand|comment",
        "es": "quien|cual|donde|cuando|como",
    },
    # a condition, whom it is about, and what that person does
    "condition": {
        "en": "when|if|once|as soon as|whenever|next time|the moment|after|until",
        "de": "wenn|sobald|falls",
        "fr es": "quand|des que|si|cuando",
    },
    "person": {
        "en": "users?|they|he|she|someone|anyone|somebody|person|human",
        "de": r"nutzer\w*|benutzer\w*|anwender\w*",
        "fr es": "utilisateur|usuario",
    },
    "utterance": {
        "en": "say|ask|typ|writ|repl|answer|respond|confirm|agree|mention|thank|approv|greet",
        "de": "sag|frag|schreib|antwort|bestatig|erwahn|dank",
        "fr es": "dit|demand|dice|pide|responde",
    },
    # the assistant offers something, and has not done it
    "offer": {
        "en": r"(?:could|would|might|may|can|suggest\w*|recommend\w*|propose\w*|consider"
        r"|shall i|should i|want me|maybe)",
        "de": r"(?:konnte\w*|wurde\w*|vorschlag\w*|empfehl\w*|soll ich)",
    },
    # a text that wants something of its reader
    "demand": {
        "en": r"remember|memor|from now on|going forward|in (?:the )?future|always|never|must"
        r"|user (?:prefer|want|like|said|ask)|preference|(?:ai|assistant|agent|model)s? (?:must|should|shall|will)"
        r"|save (?:this|that|the)|note (?:this|that|to)|ignore (?:all|any|prev)|instruct",
        "de": "merk|ab jetzt|ab sofort|zukunft|kunftig|immer",
        "fr": "souvi|desorm|toujours",
        "es": "recuerd|siempre|a partir de ahora",
        "ru zh ja ko": "запомни|отныне|всегда|记住|从现在|覚え|今後|기억",
    },
    # a text that speaks to models, or in the user's name
    "to models": {
        "en": r"\b(?:to|for) (?:all )?(?:ai|llm|assistant|agent|model)s?\b"
        r"|\b(?:ai|llm|assistant|agent|model)s?\W{1,3}(?:must|should|shall|will|please|store|note|agents?)\b"
        r"|\busers? (?:also |always )?(?:prefer|want|like|said|ask|consent|agree|approv|typed)",
        "de fr es": "nutzer (?:mochte|will|wunscht)|utilisateur (?:veut|prefer)|usuario (?:quiere|prefiere)",
    },
    # a text that wants to be remembered
    "to remember": {
        "en": r"\bremember\b|memori[sz]e|\b(?:store|save|note) (?:this|that)\b|from now on|going forward",
        "de": r"\bmerken?\b|erinner|ab (?:jetzt|sofort)",
        "fr es": "souvien|retien|desorm|recuerd|a partir de ahora",
        "ru zh ja ko": "запомни|отныне|记住|从现在|覚え|今後|기억",
    },
}


def words_for(meaning: str) -> frozenset[str]:
    """The words of a meaning, in all languages."""
    return frozenset(word for row in TABLE[meaning].values() for word in row.split())


def _any(meaning: str) -> str:
    return f"(?:{'|'.join(TABLE[meaning].values())})"


YES = re.compile(rf"\W*{_any('yes')}(?!\w)")
RETRACTION = re.compile(
    r"\W*(?:(?:no|oh|ok|sorry|actually|wait|hm+|nein|non),?\W+){0,3}(?:please |bitte )?"
    + _any("retraction")
    + r"(?!\w)"
)
QUESTION = re.compile(rf"\W*{_any('question')}(?:s|re)?(?![\w])")
OPEN_QUESTION = re.compile(rf"\W*{_any('open question')}(?:s|re)?(?![\w])")
CONDITION = re.compile(rf"\b{_any('condition')}\b")
#: a claim that waits for something the user will say
WAITING = re.compile(rf"\b{_any('condition')}\b.{{0,60}}\b{_any('person')}\b.{{0,30}}\b{_any('utterance')}")
OFFER = re.compile(rf"\b{_any('offer')}\b|\?")
DEMAND = re.compile(_any("demand"))
TO_MODELS = re.compile(_any("to models"))
PLEA = re.compile(f"{_any('to models')}|{_any('to remember')}")
