"""Every sample file with what a person reads in it."""

from __future__ import annotations

import math
from typing import Dict, List, Optional, Sequence, Tuple

import pytest

from mstui.formats.logs.rules import INFORMATIVE
from mstui.model.logs import EventKind
from tests.unit.formats.logs.reading import SAMPLES, Got, Series, sample

nan, inf = math.nan, math.inf
Told = Tuple[str, str, Optional[int], Optional[int]]


def steps(values: Sequence[float], first: int = 1) -> Series:
    return list(enumerate(values, first))


def at(places: Sequence[int], values: Sequence[float]) -> Series:
    return list(zip(places, values))


def same(value: float, places: Sequence[int]) -> Series:
    return [(place, value) for place in places]


def mindformers(
    losses: Sequence[float],
    times: Sequence[float],
    norms: Sequence[float],
    speeds: Sequence[float],
    tflops: Sequence[float] = (),
    scales: Sequence[float] = (),
    rates: Sequence[float] = (),
) -> Dict[str, Series]:
    """The series of a MindFormers log whose steps count from 1 in the first epoch."""
    count = len(times)
    series = {
        "loss": steps(losses),
        "step_time_ms": steps(times),
        "learning_rate": steps(rates or [round(1e-6 * step, 12) for step in range(1, count + 1)]),
        "overflow": steps([0.0] * count),
        "epoch": steps([1.0] * count),
        "samples_per_second": steps(speeds),
        "grad_norm/global": steps(norms),
        "tflops": steps(tflops),
        "loss_scale": steps(scales),
    }
    return {tag: points for tag, points in series.items() if points}


FP16 = [65536.0] * 4
SERIES: Dict[str, Dict[str, Series]] = {
    "mindspore/lossmonitor_0x_1_0.log": {
        "loss": at([1, 2, 1875], [2.3060, 2.2790, 1.19e-05]),
        "epoch": same(1.0, [1, 2, 1875]),
        "epoch_time_ms": [(2, 10234.51)],
        "step_time_ms": [(2, 5.46)],
        "epoch_mean_loss": [(2, 1.234)],
    },
    "mindspore/lossmonitor_1x.log": {
        "loss": steps([2.3025851, 2.2910464, 2.2611077, 2.2018]),
        "epoch": steps([1.0, 1.0, 2.0, 2.0]),
        "epoch_time_ms": at([2, 4], [1123.482, 53.120]),
        "step_time_ms": at([2, 4], [561.741, 26.560]),
    },
    "mindspore/lossmonitor_2x.log": {
        "loss": steps(
            [2.0327611464008073, 1.7971290735668493, 1.623531340015829, 1.4365115809640638, 1.3163281271447251,
             1.1920953731382422, 1.08038963108068, 1.014228392411256, 0.9242089081989159, 0.8797668883406043]
        ),
        "epoch": steps([1.0] * 5 + [2.0] * 5),
        "epoch_time_ms": same(2911.926, [5, 10]),
        "step_time_ms": same(582.385, [5, 10]),
    },
    "mindspore/lossmonitor_2x_data_time.log": {
        "loss": steps([2.3061094284057617, 2.298831224441528]),
        "epoch": steps([1.0, 1.0]),
        "epoch_time_ms": [(2, 911.926)],
        "step_time_ms": [(2, 455.963)],
        "data_time_ms": [(2, 4.092)],
    },
    "mindspore/fit_eval_metrics.log": {  # Eval's two steps each say 3 batches; Train's 44.681 / 14.894 are 3 steps
        "loss": at([2, 4], [0.32643580436706543, 0.5335507988929749]),
        "epoch": at([2, 4], [1.0, 2.0]),
        "eval/epoch_time_ms": at([2, 4], [43.888, 45.968]),
        "eval/step_time_ms": at([2, 4], [14.629, 15.323]),
        "eval/loss": at([2, 4], [0.37002742290496826, nan]),
        "eval/accuracy": at([2, 4], [0.8411458333333334, 0.1]),
        "epoch_time_ms": at([2, 4], [44.681, 46.689]),
        "step_time_ms": at([2, 4], [14.894, 15.563]),
    },
    "mindspore/nan_raises_valueerror.log": {
        "loss": steps([0.27347755432128906, 0.43146368861198425, nan]),
        "epoch": steps([1.0, 1.0, 1.0]),
    },
    "mindspore/nan_silent_tuple_output.log": {
        "loss": steps([2.0287374, 1.8161924, 1.6354023, 1.4566982] + [nan] * 7),
        "epoch": steps([1.0] * 11),
    },
    "mindspore/dynamic_loss_scale_abort.log": {"loss": [(1000, 2.3025851)], "epoch": [(1000, 1.0)]},
    "mindspore/quickstart_loop.log": {
        "loss": at([0, 100, 200, 938], [2.305112, 1.874301, 0.901274, 0.298114]),
        "epoch": at([0, 100, 200, 938], [1.0, 1.0, 1.0, 2.0]),
        "eval/accuracy": [(200, 91.4)],
        "eval/loss": [(200, 0.318812)],
    },
    "mindspore/reduce_lr_and_checkpoint.log": {"learning_rate": [(12, 0.0005)]},
    "mindspore/sink_mode_one_print_per_epoch.log": {
        "loss": at([1875, 3750, 5625, 7500, 9375], [1.6002882, 1.1810963, 0.9396898, 0.8012642, 0.6794217]),
        "epoch": at([1875, 3750, 5625, 7500, 9375], [1.0, 2.0, 3.0, 4.0, 5.0]),
        "epoch_time_ms": at([1875, 3750, 5625, 7500, 9375], [61234.9] + [8123.4] * 4),
        "step_time_ms": at([1875, 3750, 5625, 7500, 9375], [32.659] + [4.332] * 4),
    },
    "mindspore/tensor_repr_variants.log": {
        "loss": at([0, 10, 1500, 2000], [2.3499548, 1.66825, 10.8561010, 9.90120030]),
        "epoch": same(0.0, [0, 10]),
        "overflow": at([1500, 2000], [0.0, 1.0]),
        "loss_scale": at([1500, 2000], [65536.0, 32768.0]),
    },
    "mindformers/mf_0.3.log": {
        **mindformers([10.196, 9.801, 9.600, 9.345], [103328, 1737, 1773, 1723], [], [], scales=FP16),
        "epoch_time_ms": [(4, 12345.678)],
        "epoch_mean_loss": [(4, 9.123)],
    },
    "mindformers/mf_0.6.log": {
        **mindformers([10.137, 9.829, 9.529, 9.383], [103328, 1791, 1726, 1799], [], [], scales=FP16),
        "epoch_time_ms": [(4, 12345.678)],
        "epoch_mean_loss": [(4, 9.123)],
    },
    "mindformers/mf_0.8.log": mindformers(
        [10.179, 9.882, 9.656, 9.344], [103328, 1723, 1773, 1743], [], [0.08, 4.64, 4.51, 4.59], scales=FP16
    ),
    "mindformers/mf_1.0_nosink.log": mindformers(
        [10.262, 9.987, 9.549, 9.368], [103328, 1753, 1762, 1709], [], [0.08, 4.56, 4.54, 4.68], scales=FP16,
        rates=[1e-05, 2e-05, 3e-05, 4e-05],
    ),
    "mindformers/mf_1.3.log": mindformers(
        [10.269, 9.966, 9.586, 9.297], [103328, 1788, 1758, 1734], [1.487631, 1.176497, 1.396010, 0.912315],
        [0.07742, 4.47427, 4.55063, 4.61361], scales=FP16,
    ),
    "mindformers/mf_1.5_throughput.log": mindformers(  # a constant loss scale of 1 is none
        [10.211, 9.803, 9.653, 9.417, 9.209], [103328, 1782, 1791, 1759, 1727],
        [1.596983, 1.641790, 1.334769, 0.827076, 1.392432], [0.07742, 4.48934, 4.46678, 4.54804, 4.63231],
        [2.849, 59.624, 58.086, 57.844, 61.146],
    ),
    "mindformers/mf_1.7_moe_mtp.log": {
        **mindformers(
            [10.142072, 9.965613, 9.543712, 9.355297], [103328, 1757, 1770, 1729],
            [1.097138, 0.896698, 1.316626, 1.861031], [0.07742, 4.55322, 4.51977, 4.62695],
            [2.849, 57.223, 58.322, 56.410],
        ),
        "lm_loss": steps([9.840450, 9.556698, 9.290052, 9.059702]),
        "load_balancing_loss": steps([0.0101] * 4),
        "mtp_loss": steps([3.2] * 4),
    },
    "mindformers/mf_1.9_grouped_lr_expert_load.log": {
        **mindformers([10.162596, 9.888321], [103328, 1733], [1.080003, 1.506948], [0.07742, 4.61627], [2.849, 57.255]),
        "learning_rate/group_0": [(2, 5e-06)],
        "expert_load/layer_2/min": [(20, 1.0)],
        "expert_load/layer_2/max": [(20, 912.0)],
        "expert_load/layer_2/std": [(20, 301.22)],
        "expert_load_after/layer_2/min": [(20, 240.0)],
        "expert_load_after/layer_2/max": [(20, 270.0)],
        "expert_load_after/layer_2/std": [(20, 11.02)],
        "drop_rate/layer_3": [(2, 0.01234)],
    },
    "mindformers/mf_1.9_pipeline_rank0_loss_zero.log": mindformers(
        [], [103328, 1778, 1788, 1783], [0.974812, 1.441509, 1.943718, 1.940269],
        [0.07742, 4.49944, 4.47427, 4.48682], [2.849, 59.531, 61.874, 60.410],
    ),
    "mindformers/mf_2.1_pynative.log": {
        "loss": steps([10.226537, 9.879134, 9.605902, 9.379570, nan]),
        "step_time_ms": steps([1801.0] * 5),
        "learning_rate": steps([1e-06, 2e-06, 3e-06, 4e-06, 5e-06]),
        "grad_norm/global": steps([1.2, 1.2, 1.2, 1.2, nan]),
        "tflops": steps([61.2] * 5),
        "load_balancing_loss": steps([0.0102, 0.0102], 3),
        "indexer_loss": steps([0.5, 0.5], 3),
        "mtp_1_loss": steps([3.4, 3.4], 3),
        "local_norm": [(5, 0.1234)],
        "expert_load/layer_3/min": [(5, 0.0)],
        "expert_load/layer_3/max": [(5, 400.0)],
        "expert_load/layer_3/std": [(5, math.sqrt((116**2 + 128**2 + 272**2 + 28**2) / 4))],
    },
    "mindformers/mf_2.1_pynative_nonlast_pp_stage.log": {"step_time_ms": steps([1801.0] * 3)},
    "mindformers/mf_local_norm_multiline.log": {
        "local_norm/0": [(1, 0.0123)],
        "local_norm/1": [(1, 1.2)],
        "local_norm/2": [(1, 0.0)],
        **mindformers([10.239], [103328], [1.746079], [0.07742], scales=[65536.0]),
    },
    "mindformers/mf_lr_none_scale_unavailable.log": {
        "loss": steps([10.272, 9.857]),
        "step_time_ms": steps([103328.0, 1728.0]),
        "overflow": steps([0.0, 0.0]),
        "epoch": steps([1.0, 1.0]),
        "samples_per_second": steps([0.07742, 4.62963]),
    },
    "mindformers/mf_nan.log": mindformers(
        [10.206795, 9.904482, 9.604535, 9.391146] + [nan] * 5,
        [103328, 1720, 1767, 1703, 1738, 1711, 1733, 1721, 1728], [1.2, 1.2, 1.2, 1080.0] + [nan] * 5,
        [0.07742, 4.65116, 4.52745, 4.69759, 4.60299, 4.67563, 4.61627, 4.64846, 4.62963],
        [2.849, 59.131, 57.894, 61.065, 62.828, 60.570, 59.147, 57.846, 59.261],
    ),
    "mindformers/mf_skip_data_by_global_norm.log": {
        **mindformers([], [103328], [44.313248], [0.07742], [2.849]),
        "embedding_local_norm": [(1, 251.79117)],
    },
    "mindformers/mf_training_state_monitor.log": {
        "local_norm/model.layers.0.attention.wq.weight": steps([0.0124, 0.0125]),
        "device_local_norm": steps([1.2468, 1.2592]),
        "micro_local_lm_loss": steps([10.5364, 10.6407]),
        "device_accum_local_lm_loss": steps([10.5344, 10.6387]),
        "adam_m_norm/layers.0.attention.wq.weight": steps([0.0004, 0.0004]),
        "adam_v_norm/layers.0.attention.wq.weight": steps([0.0, 0.0]),
        "weight_norm": steps([820.4691, 828.5925]),
        "throughput_linearity": steps([0.9708, 0.9804]),
        "max_attention_logit/layers.0": [(3, 31.2)],
    },
    "mindformers/mf_tre_global_norm.log": {},
    "mindcv/rank0.log": {
        "loss": at([1, 100, 200, 5004], [6.928836, 6.499952, 6.142863, 5.861043]),
        "learning_rate": same(0.1, [1, 100, 200, 5004]),
        "log_time_s": same(97.860354, [1, 100, 200, 5004]),
        "epoch": same(1.0, [1, 100, 200, 5004]),
        "eval/Top_1_Accuracy": [(5004, 12.345)],
        "eval/Top_5_Accuracy": [(5004, 30.12)],
        "epoch_time_ms": [(5004, 424.939602 * 1000.0)],
    },
    "mindcv/accuracy_stuck_at_chance.log": {
        "loss": at([950760, 955764, 960768, 965772], [6.907469, 6.907501, 6.907534, 6.907492]),
        "learning_rate": same(0.000154, [950760, 955764, 960768, 965772]),
        "log_time_s": at([950760, 955764, 960768, 965772], [97.800354, 97.810354, 97.820354, 97.830354]),
        "epoch": at([950760, 955764, 960768, 965772], [190.0, 191.0, 192.0, 193.0]),
        "eval/Top_1_Accuracy": same(0.1, [950760, 955764, 960768, 965772]),
        "eval/Top_5_Accuracy": same(0.5, [950760, 955764, 960768, 965772]),
    },
    "mindcv/console_rich_wrapped_80cols.log": {
        "loss": [(100, 6.907755)],
        "learning_rate": [(100, 0.01)],
        "log_time_s": [(100, 97.860354)],
        "epoch": [(100, 1.0)],
        "eval/Top_1_Accuracy": [(100, 12.345)],
        "eval/Top_5_Accuracy": [(100, 30.12)],
    },
    "mindcv/console_termcolor_ansi.log": {
        "loss": [(100, 6.907755)],
        "learning_rate": [(100, 0.01)],
        "log_time_s": [(100, 97.860354)],
        "epoch": [(100, 1.0)],
    },
    "mindcv/result.log": {
        "TrainLoss/by_epoch": steps([6.482853, 6.149504, 5.850679]),
        "Top_1_Accuracy/by_epoch": steps([13.3, 14.3, 15.3]),
        "Top_5_Accuracy/by_epoch": steps([31.1, 32.1, 33.1]),
        "TrainTime/by_epoch": steps([410.0] * 3),
        "EvalTime/by_epoch": steps([14.2] * 3),
        "TotalTime/by_epoch": steps([424.2] * 3),
    },
    "mindyolo/MindYOLO_2026-05-06_time_10_00_00_rank_0.log": {
        "loss": at([100, 200, 300, 500], [7.5745, 6.8660, 6.2917, nan]),
        "epoch": same(1.0, [100, 200, 300, 500]),
        "lbox": at([100, 200, 300, 500], [0.1003, 0.1003, 0.1003, nan]),
        "lobj": at([100, 200, 300, 500], [5.3763, 4.8514, 4.4203, nan]),
        "lcls": at([100, 200, 300, 500], [0.1019, 0.1019, 0.1019, nan]),
        "learning_rate": at([100, 200, 300, 500], [0.095137, 0.093137, 0.091137, 0.08699]),
        "step_time_ms": same(654.4, [100, 200, 300]),
        "overflow": [(401, 1.0)],
        "loss_scale": [(401, 256.0)],
        "epoch_time_ms": [(500, 20.11 * 60_000.0)],
        "eval/accuracy": [(500, 0.371)],
    },
    "mindyolo/datasink_rank_0.log": {
        "loss": [(1849, 7.9123)],
        "epoch": [(1849, 1.0)],
        "lbox": [(1849, 0.1003)],
        "lobj": [(1849, 5.2211)],
        "lcls": [(1849, 0.1019)],
        "learning_rate": [(1849, 0.0099)],
    },
    "mindocr/log.txt": {
        "loss": at([100, 200, 300, 4568], [19.576497, 18.532131, 17.863073, nan]),
        "step_time_ms": at([100, 200, 300, 4568], [223.442, 222.442, 221.442, 224.442]),
        "fps": same(4.46, [100, 200, 300, 4568]),
        "epoch": at([100, 200, 300, 4568], [1.0, 1.0, 1.0, 2.0]),
        "learning_rate": same(0.000883, [100, 200, 300]),
        "learning_rate/0": [(4568, 0.0001)],
        "learning_rate/1": [(4568, 0.00001)],
        "epoch_mean_loss": [(300, 13.201221)],
        "epoch_time_ms": [(300, 998.231 * 1000.0)],
        "eval/acc": [(300, 0.0)],
        "eval/norm_edit_distance": [(300, 0.0)],
    },
    "mindone/log_0.txt": {
        "loss": steps([0.195390, 0.188665, 0.174604, nan]),
        "loss_scale": steps([65536.0, 65536.0, 65536.0, 32768.0]),
        "step_time_ms": steps([913.3, 914.3, 915.3, 915.1]),
        "epoch": steps([1.0] * 4),
        "learning_rate": steps([0.00001] * 3),
        "eval/acc": [(4, 0.8112)],
    },
    "mindone/result.log": {
        "loss": steps([0.2100012, 0.2000450, nan]),
        "learning_rate": steps([0.00001, 0.00001]),
        "train_time_s": steps([912.3, 0.9131, 0.9140]),
    },
    "mindnlp/trainer_tqdm_cr.log": {
        "loss": at([10, 20, 30], [1.4596] * 3)
        + steps([2.3, 1.15, 0.767, 0.575, 0.46, 0.383, 0.329, 0.287, 0.256, 0.23])
        + [(13, 0.0)],
        "grad_norm/global": same(nan, [10, 20, 30, 13]),
        "learning_rate": at([10, 20, 30, 13], [4.55e-06] * 3 + [4.549912997495027e-06]),
        "epoch": same(0.66, [10, 20, 30, 13]),
        "eval/loss": [(13, 0.4312)],
        "eval/accuracy": [(13, 0.8123)],
        "eval/runtime": [(13, 12.311)],
        "eval/samples_per_second": [(13, 81.2)],
        "eval/steps_per_second": [(13, 10.1)],
    },
    "megatron/mindspeed_llm.log": {
        "step_time_ms": steps([3012.4] * 6),
        "learning_rate": steps([1.25e-06, 2.5e-06, 3.75e-06, 5e-06, 6.25e-06, 7.5e-06]),
        "lm_loss": steps([10.21748, 9.892269, nan, nan, nan, 9.000447]),
        "loss_scale": steps([65536.0, 65536.0, 32768.0, 16384.0, 1.0, 65536.0]),
        "grad_norm/global": at([1, 2, 5, 6], [1.203, 1.203, nan, 1.203]),
        "skipped_iterations": steps([0.0, 0.0, 1.0, 1.0, 0.0, 0.0]),
        "nan_iterations": steps([0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
        "tflops": [(2, 151.2)],
        "core_attn_ratio": [(2, 7.1)],
        "eval/lm_loss": [(100, 8.123456)],
        "eval/lm_loss_PPL": [(100, 3372.012)],
    },
    "megatron/mindspeed_fsdp2.log": {
        "step_time_ms": steps([3012.41, 3011.9]),
        "learning_rate": steps([1.25e-06, 2.5e-06]),
        "lm_loss": steps([10.6, 10.5512]),
        "mtp_loss": [(1, 0.0)],
        "grad_norm/global": steps([1.203, 1.1987]),
        "tokens_per_second": [(1, 87021.12)],
        "mfu": [(1, 0.41)],
        "max_memory_allocated_GB": [(1, 41.2)],
        "max_memory_reserved_GB": [(1, 48.11)],
        "samples_per_second": [(2, 21.2)],
    },
    "mindio/ttp_lines.log": {},
    "msprobe/console_alert.log": {},
    "modelzoo/official_scripts.log": {  # lines of many scripts in one file: "0/200" says that epochs count from 0
        "loss": at(
            [195, 624, 100, 1949, 1859, 1350, 100, 100, 1500],
            [1.4857719, 5.258, 7123.123456, 0.0719, 0.50134, 2.301231, 6.9012, 8.1231, 10.8561010],
        ),
        "epoch": at([195, 624, 1949, 1859, 1350, 100], [1.0, 0.0, 1.0, 1.0, 1.0, 1.0]),
        "epoch_time_ms": at([195, 624, 1248, 1949], [168314.456, 140522.5, 2310.231, 812.331 * 1000.0]),
        "step_time_ms": at([195, 624, 1248, 100, 1949, 1350], [863.151, 224.836, 3.702, 3425.1, 412.33, 112.0]),
        "log_time_ms": [(624, 140412.236)],
        "epoch_mean_loss": at([624, 1248, 1949], [5.258, 5.912, 2.0719]),
        "learning_rate": at([624, 1248, 100, 1949, 100], [0.1, 0.012, 1.2e-05, 0.000312, 0.012]),
        "fps": at([100, 100], [93.42, 825.2]),
        "loss_scale": at([1949, 1350, 100, 100, 1500], [1024.0, 1024.0, 1024.0, 65536.0, 65536.0]),
        "overflow": same(0.0, [1949, 1350, 100, 100, 1500]),
        "rpn_loss": [(1859, 0.10011)],
        "rcnn_loss": [(1859, 0.40123)],
        "rpn_cls_loss": [(1859, 0.05011)],
        "rpn_reg_loss": [(1859, 0.05)],
        "rcnn_cls_loss": [(1859, 0.30001)],
        "rcnn_reg_loss": [(1859, 0.10122)],
    },
    "msrun_ok/worker_0.log": {  # two calls of train: the second begins at step 1 again
        "loss": at(
            [1, 2, 3, 1, 2, 3],
            [0.8920651078224182, 1.2035657167434692, 1.3996021747589111, 0.7079229950904846,
             1.0380079746246338, 1.0465267896652222],
        ),
        "epoch": same(1.0, [1, 2, 3, 1, 2, 3]),
        "epoch_time_ms": at([3, 3], [1559.069, 332.211]),
        "step_time_ms": at([3, 3], [519.690, 110.737]),
    },
    "msrun_worker_sigkill/worker_1.log": {
        "loss": steps([0.2758791148662567, 0.3356117308139801, 0.2570327818393707]),
        "epoch": steps([1.0] * 3),
        "epoch_time_ms": [(3, 984.146)],
        "step_time_ms": [(3, 328.049)],
    },
    "msrun_worker_sigkill/console.log": {  # two ranks in one console, two records on one line
        "loss": at(
            [1, 1, 2, 2, 3, 3],
            [0.2758791148662567, 0.562446653842926, 0.3356117308139801, 0.3513326346874237,
             0.4091610014438629, 0.2570327818393707],
        ),
        "epoch": same(1.0, [1, 1, 2, 2, 3, 3]),
        "epoch_time_ms": at([3, 3], [984.146, 1174.513]),
        "step_time_ms": at([3, 3], [328.049, 391.504]),
    },
    "odd/crlf_windows.log": {"loss": steps([2.3051, 2.2951]), "epoch": steps([1.0, 1.0])},
    "odd/nul_bytes_after_power_loss.log": {"loss": at([1, 9], [2.3051, 2.2051]), "epoch": same(1.0, [1, 9])},
    "odd/two_records_on_one_line.log": {
        "loss": at([120, 120, 625, 121], [-0.2312, -0.2298, 4.9132, 0.53]),
        "epoch": same(1.0, [120, 120, 625, 121]),
    },
    "odd/gbk_progress_bar.log": mindformers(
        [10.261, 9.857], [103328, 1771], [1.467771, 1.422018], [0.07742, 4.51722], scales=[65536.0] * 2
    ),
    "odd/mpirun_tag_output.log": {  # rank 1's loss is not mixed in
        "loss": [(1, 2.3051)],
        "epoch": [(1, 1.0)],
        "epoch_time_ms": [(1, 911.926)],
        "step_time_ms": [(1, 303.975)],
    },
    "odd/ascii_logging_error.log": {},
    "odd/mpirun_output_filename/log_output/1/rank.0/stdout": {
        "loss": at([0, 10], [2.3499548, 1.6682479]),
        "epoch": same(0.0, [0, 10]),
    },
    "odd/mpirun_output_filename/log_output/1/rank.1/stdout": {
        "loss": at([0, 10], [2.3499548, 1.6682479]),
        "epoch": same(0.0, [0, 10]),
    },
    "odd/ranktable_layout/device0/train0.log": {"loss": [(0, 2.3499548)], "epoch": [(0, 0.0)]},
    "odd/ranktable_layout/device1/train1.log": {"loss": [(0, 2.3499548)], "epoch": [(0, 0.0)]},
}  # fmt: skip


def plain(series: Dict[str, Series]) -> Dict[str, List[Tuple[int, str]]]:
    """NaN equals NaN in this form, and 1 equals 1.0."""
    return {tag: [(step, repr(float(value))) for step, value in points] for tag, points in series.items()}


@pytest.mark.parametrize("name", sorted(SERIES))
def test_the_curves_are_those_in_the_log(name: str) -> None:
    found = sample(name)
    assert plain(found.series or found.ranks.get(0, {})) == plain(SERIES[name])


def test_an_overflow_streak_is_read_step_by_step_and_told_once() -> None:
    got = sample("mindformers/mf_overflow_streak_scale_to_1.log")
    scales = [65536.0] * 3 + [2.0**power for power in range(15, -1, -1)] + [1.0] * 3
    assert got.series["loss_scale"] == steps(scales)
    assert got.series["overflow"] == steps([0.0] * 3 + [1.0] * 19)
    assert got.series["grad_norm/global"] == steps([1.203] * 3 + [inf] * 19)
    assert got.told == [("overflow", "", 4, None)]
    assert got.events[0].fields == {"loss_scale": "32768.0", "grad_norm": "inf"}


def test_of_eight_interleaved_workers_the_stages_without_loss_give_none() -> None:
    got = sample("odd/console_8_workers_interleaved.log")
    losses = [10.597605, 10.587324, 10.196362, 10.228171, 9.878222, 9.890268]
    assert got.series["loss"] == at([1, 1, 2, 2, 3, 3], losses)
    assert got.skipped == {"loss-zero": 18}


@pytest.mark.parametrize("rank", [0, 7])
def test_console_and_info_log_of_a_rank_agree_in_shape(rank: int) -> None:
    worker = sample(f"mindformers_layout/output/msrun_log/worker_{rank}.log")
    info = sample(f"mindformers_layout/output/log/rank_{rank}/info.log")
    assert set(worker.series) == set(info.series)
    assert [step for step, _value in worker.series["loss"]] == [1, 2, 3, 4]
    assert worker.walls == info.walls


CONSOLE_START: List[Told] = [
    ("rank-map", "", None, 0),
    ("rank-map", "", None, 1),
    ("startup", "", None, None),
]
EVENTS: Dict[str, List[Told]] = {
    "mindspore/dynamic_loss_scale_abort.log": [("traceback", "", 1000, None), ("scale-abort", "", 1000, None)],
    "mindspore/nan_raises_valueerror.log": [("traceback", "", 3, None), ("nan-stop", "", 3, None)],
    "mindspore/reduce_lr_and_checkpoint.log": [("nan-weights", "", None, None)],
    "mindspore/tensor_repr_variants.log": [("overflow", "", 2000, None)],
    "mindformers/mf_1.9_grouped_lr_expert_load.log": [("checkpoint", "", 2, None)],
    "mindformers/mf_skip_data_by_global_norm.log": [
        ("skipped-data", "", 1, None),
        ("norm-streak", "", 1, None),
        ("traceback", "", 1, None),
    ],
    "mindformers/mf_tre_global_norm.log": [
        ("norm-streak", "", None, None),
        ("fault-tolerance", "", None, None),
        ("fault-tolerance", "", 300, None),
    ],
    "mindcv/rank0.log": [("checkpoint", "", 5004, None), ("overflow", "", 5004, None)],
    "mindyolo/MindYOLO_2026-05-06_time_10_00_00_rank_0.log": [
        ("overflow", "", 300, None),
        ("overflow", "", 300, None),
        ("overflow", "", 401, None),
        ("checkpoint", "", 500, None),
    ],
    "mindocr/log.txt": [("checkpoint", "", 300, None)],
    "mindone/log_0.txt": [("overflow", "", 4, None)],
    "megatron/mindspeed_llm.log": [("overflow", "", 3, None)],
    "mindio/ttp_lines.log": [("fault-tolerance", "", None, None), ("fault-tolerance", "", None, None)],
    "msprobe/console_alert.log": [("probe-alert", "", 12, 0)],
    "mindformers_layout/output/log/rank_7/error.log": [
        ("traceback", "", None, None),
        ("task-failed", "", None, None),
    ],
    "ascend/aicore_ez9999.log": [
        ("task-failed", "", None, None),
        ("ascend-code", "EZ9999", None, None),
        ("task-failed", "aicore", None, None),
    ],
    "ascend/error_code_shapes.log": [  # EH9999 and EE9999 only pass on what came before
        ("hccl-timeout", "EI0006", None, None),
        ("device-link", "EJ0001", None, None),
        ("out-of-memory", "EL0004", None, None),
        ("ascend-code", "E80012", None, None),
        ("ascend-code", "EB0000", None, None),
        ("ascend-code", "ERR02200", None, 3),
    ],
    "ascend/hccl_ei0002_notify_timeout.log": [("hccl-timeout", "EI0002", None, None)],
    "ascend/hccl_ei0006_socket_timeout.log": [("traceback", "", None, None), ("hccl-timeout", "EI0006", None, None)],
    "ascend/oom_variants.log": [
        ("out-of-memory", "", None, None),
        ("out-of-memory", "", None, None),
        ("out-of-memory", "EL0004", None, None),
        ("out-of-memory", "", None, None),
        ("out-of-memory", "", None, None),
    ],
    "ascend/plog/debug/plog/plog-162844_20260506102658086.log": [("hccl-timeout", "", None, None)],
    "odd/mpirun_tag_output.log": [("worker-exit", "-9", 1, 1)],
    "odd/ascii_logging_error.log": [("log-lost", "", None, None)],
    "msrun_worker_exception/worker_0.log": [
        ("startup", "", None, None),
        ("rank-map", "", None, 0),
        ("peer-closed", "", 3, None),
    ],
    "msrun_worker_exception/worker_1.log": [
        ("startup", "", None, None),
        ("rank-map", "", None, 1),
        ("traceback", "", 3, None),
    ],
    "msrun_worker_exception/console.log": [
        *CONSOLE_START,
        ("rank-map", "", None, 1),
        ("rank-map", "", None, 0),
        ("traceback", "", 3, None),
        ("peer-closed", "", 3, None),
        ("worker-exit", "1", 3, None),
        ("job-failed", "", 3, None),
        ("node-timeout", "1", 3, None),
        ("traceback", "", 3, None),
        ("traceback", "", 3, None),
    ],
    "msrun_worker_sigkill/worker_0.log": [
        ("startup", "", None, None),
        ("rank-map", "", None, 0),
        ("peer-closed", "", 3, None),
    ],
    "msrun_worker_sigkill/worker_1.log": [("startup", "", None, None), ("rank-map", "", None, 1)],
    "msrun_worker_sigkill/console.log": [
        *CONSOLE_START,
        ("rank-map", "", None, 1),
        ("rank-map", "", None, 0),
        ("peer-closed", "", 3, None),
        ("worker-exit", "-9", 3, None),
        ("job-failed", "", 3, None),
        ("node-timeout", "0", 3, None),
        ("node-timeout", "1", 3, None),
        ("traceback", "", 3, None),
        ("traceback", "", 3, None),
    ],
    "msrun_worker_sigsegv/worker_0.log": [
        ("startup", "", None, None),
        ("rank-map", "", None, 0),
        ("peer-closed", "", 3, None),
    ],
    "msrun_worker_sigsegv/console.log": [
        *CONSOLE_START,
        ("rank-map", "", None, 0),
        ("rank-map", "", None, 1),
        ("peer-closed", "", 3, None),
        ("worker-exit", "-11", 3, None),
        ("job-failed", "", 3, None),
        ("node-timeout", "0", 3, None),
        ("node-timeout", "1", 3, None),
        ("traceback", "", 3, None),
        ("traceback", "", 3, None),
    ],
}


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_the_events_are_those_in_the_log(name: str) -> None:
    assert sample(name).told == EVENTS[name]


@pytest.mark.parametrize("name", sorted(set(SERIES) - set(EVENTS)))
def test_logs_without_trouble_tell_nothing_alarming(name: str) -> None:
    assert [each for each in sample(name).events if each.kind not in INFORMATIVE] == []


HEALTHY = [path for folder in ("msrun_ok", "glog_dir") for path in SAMPLES.glob(f"{folder}/**/*.*")]
QUIET = [
    *sorted(str(path.relative_to(SAMPLES)) for path in HEALTHY),
    "mindformers/mf_2.1_pynative_nonlast_pp_stage.log",
    "mindformers/mf_1.9_pipeline_rank0_loss_zero.log",
    "mindformers/mf_lr_none_scale_unavailable.log",
]  # fmt: skip


@pytest.mark.parametrize("name", QUIET)
def test_healthy_logs_that_sound_bad_stay_silent(name: str) -> None:
    kinds = {each.kind for each in sample(name).events}
    assert kinds <= {EventKind.RANK_MAP, EventKind.STARTUP}


def test_a_killed_worker_is_found_by_its_pid() -> None:
    console = sample("msrun_worker_sigkill/console.log")
    died = next(each for each in console.events if each.kind is EventKind.WORKER_EXIT)
    ranks = {
        each.fields["pid"]: each.rank_id for each in console.events if "pid" in each.fields and each.rank_id is not None
    }
    assert died.fields["pid"] == "25384"
    assert ranks["25384"] == 1


def test_a_traceback_is_one_event_that_ends_with_its_exception() -> None:
    data = (SAMPLES / "msrun_worker_exception/worker_1.log").read_bytes()
    event = sample("msrun_worker_exception/worker_1.log").events[-1]
    body = data[event.offset : event.offset + event.length]
    assert body.startswith(b"Traceback (most recent call last):\n")
    assert body.endswith(b"\nRuntimeError: boom")
    assert (event.text, event.fields) == ("RuntimeError: boom", {"type": "RuntimeError"})


def test_out_of_memory_says_how_much_was_asked_for() -> None:
    events = sample("ascend/oom_variants.log").events
    assert [each.fields.get("size") for each in events] == ["32212254720", None, None, None, "4398046511104"]
    assert events[3].fields == {"host": "cudaHostAlloc"}


def test_a_notify_timeout_names_the_peer() -> None:
    assert sample("ascend/hccl_ei0002_notify_timeout.log").events[0].fields == {"peer_rank": "0"}


def test_the_failed_kernel_is_named() -> None:
    assert sample("ascend/aicore_ez9999.log").events[2].fields == {"device": "0", "kernel": "add_13570_0__kernel0"}


def test_nul_bytes_are_counted_and_said() -> None:
    got: Got = sample("odd/nul_bytes_after_power_loss.log")
    assert got.skipped == {"nul-bytes": 64}
    assert got.faults == [("damaged", 33, 64)]
    assert got.consumed == 130  # the cut last line waits


def test_most_records_of_the_text_samples_are_understood() -> None:
    names = [*SERIES, *EVENTS]
    records = sum(len(sample(name).records) for name in dict.fromkeys(names))
    understood = sum(sample(name).understood for name in dict.fromkeys(names))
    assert understood / records > 0.95
