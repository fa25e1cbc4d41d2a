"""Text and vectors that have the statistics of real ones, in English and Japanese, from a seed.

Words are drawn by Zipf's law, as in a real collection, so that posting lists have realistic lengths; English words are
made of syllables, Japanese ones of real two-sign words, their compounds, and katakana. Vectors lie in clusters on the
unit sphere, as those of an embedder do. The text says nothing: it is for measures of speed only.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

_FUNCTION_WORDS = """
    the of and to a in is that for it as was with be by on not he this are or his from at which but have an had they
    you were their one all we can her has there been if more when will would who so no out up into do any your what
    only than some could them other then its also two these may first
"""
FUNCTION_WORDS = _FUNCTION_WORDS.split()
_SYLLABLES = """
    ba be bo ca ce co da de di do fa fi ga ge go ha he la le li lo ma me mi mo na ne ni no pa pe po ra re ri ro sa
    se si so ta te ti to va ve vi za con tra ver sta min ter pro ment al er or an in on us
"""
SYLLABLES = _SYLLABLES.split()
_JAPANESE_WORDS = """
    会社 装置 観測 温度 湿度 測定 校正 検査 部品 交換 電池 衛星 信号 時刻 望遠 主鏡 製品 仕様 規程 申請 承認 報告
    会議 記録 担当 営業 設計 製造 品質 保証 総務 経理 人事 安全 防災 避難 地震 訓練 備蓄 倉庫 工場 本社 支店 顧客
    契約 価格 料金 費用 予算 決算 利益 売上 輸出 輸入 税金 保険 休暇 勤務 残業 賃金 賞与 手当 出張 旅費 宿泊 交通
    航空 鉄道 道路 車両 運転 修理 保守 点検 故障 原因 対策 改善 提案 効果 結果 分析 評価 基準 方法 手順 工程 材料
    金属 硝子 塗装 真空 圧力 電圧 電流 回路 配線 接続 通信 制御 自動 手動 停止 起動 表示 入力 出力 設定 変更 更新
    削除 保存 検索 情報 文書 資料 図面 写真 映像 音声 言語 翻訳 教育 研修 学校 大学 研究 論文 実験 理論 計算 数値
    統計 確率 関数 方程 物理 化学 生物 地球 宇宙 天文 星雲 銀河 太陽 惑星 月面 気象 降雨 積雪
"""
JAPANESE_WORDS = _JAPANESE_WORDS.split()
PARTICLES = ("は", "を", "に", "が", "の", "で", "と", "も", "から", "まで")
ENDINGS = ("する。", "した。", "である。", "できる。", "となる。", "を行う。", "が必要である。", "を確認する。")
KATAKANA = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモラリルレロワン"


WORDS = {"en": 230, "ja": 110}
"""Words of a passage of about 400 tokens."""


@dataclass(frozen=True, slots=True)
class Passage:
    language: str
    text: str


class Writer:
    """Writes passages of one language."""

    def __init__(self, language: str, seed: int, vocabulary: int = 40_000) -> None:
        self.language = language
        self._random = random.Random(f"{language} {seed}")
        self._draws = np.random.default_rng([seed, 0 if language == "en" else 1])
        make = self._english_words if language == "en" else self._japanese_words
        self._words = np.array(make(vocabulary), dtype=object)
        ranks = np.arange(1, len(self._words) + 1)
        weights = 1.0 / (ranks + 2.7)
        self._cumulative = np.cumsum(weights / weights.sum())

    def passage(self, words: int) -> Passage:
        """Return a passage of so many words."""
        drawn = self._draw(words)
        write = self._english if self.language == "en" else self._japanese
        return Passage(self.language, write(drawn))

    def question(self, passage: Passage) -> str:
        """Return a question that asks for a few content words of a passage, among frequent ones."""
        if self.language == "en":
            words = [word.strip(".").lower() for word in passage.text.split()]
            content = [word for word in words if word not in FUNCTION_WORDS]
            first, second, third = self._random.choices(content, k=3)
            return f"How does the {first} of {second} change when {third} is replaced?"
        content = [word for word in JAPANESE_WORDS if word in passage.text]
        first, second, third = self._random.choices(content, k=3)
        return f"{first}の{second}を{third}するときの手順は何ですか"

    def _draw(self, count: int) -> list[str]:
        places = np.searchsorted(self._cumulative, self._draws.random(count))
        return list(self._words[np.minimum(places, len(self._words) - 1)])

    def _english_words(self, count: int) -> list[str]:
        made = dict.fromkeys(FUNCTION_WORDS)
        while len(made) < count:
            made["".join(self._random.choices(SYLLABLES, k=self._random.randint(2, 4)))] = None
        return list(made)

    def _japanese_words(self, count: int) -> list[str]:
        made = dict.fromkeys(JAPANESE_WORDS)
        while len(made) < count:
            if self._random.random() < 0.6:
                made["".join(self._random.choices(JAPANESE_WORDS, k=2))] = None
            else:
                made["".join(self._random.choices(KATAKANA, k=self._random.randint(3, 6)))] = None
        return list(made)

    def _english(self, words: list[str]) -> str:
        sentences = []
        for at in range(0, len(words), 17):
            sentence = " ".join(words[at : at + 17])
            sentences.append(sentence[0].upper() + sentence[1:] + ".")
        return " ".join(sentences)

    def _japanese(self, words: list[str]) -> str:
        pieces = []
        for number, word in enumerate(words, start=1):
            ends = number % 8 == 0 or number == len(words)
            pieces.append(word + (self._random.choice(ENDINGS) if ends else self._random.choice(PARTICLES)))
        return "".join(pieces)


def passages(writers: tuple[Writer, ...], count: int) -> Iterator[Passage]:
    """Yield passages of about 400 tokens, in the writers' languages by turns."""
    for number in range(count):
        writer = writers[number % len(writers)]
        yield writer.passage(WORDS[writer.language])


class Vectors:
    """Unit vectors around cluster centres."""

    def __init__(self, dimension: int, seed: int = 7, clusters: int = 400, spread: float = 0.6) -> None:
        self._random = np.random.default_rng([seed, 2])
        self._centres = _unit(self._random.standard_normal((clusters, dimension)))
        self._spread = spread / np.sqrt(dimension)

    def draw(self, count: int) -> Floats:
        """Return ``(count, dimension)`` vectors."""
        near = self._centres[self._random.integers(0, len(self._centres), count)]
        return _unit(near + self._spread * self._random.standard_normal(near.shape))

    def near(self, vector: Floats) -> Floats:
        """Return the vector of a question that is meant to find ``vector``."""
        noise = self._spread * self._random.standard_normal(vector.shape)
        return _unit((vector + 0.5 * noise)[None, :])[0]


def _unit(vectors: npt.NDArray[np.float64]) -> Floats:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
