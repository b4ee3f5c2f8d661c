"""Training: the same numbers from the same seed, broken off or not, and the best epoch kept."""

import re

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest


POINTS = np.random.default_rng(0).normal(size=(64, 2)).astype(np.float32)
SIDES = (POINTS[:, 0] * POINTS[:, 1] > 0).astype(np.float32)
OPTIMISER = optax.adam(1.0)


def batches(epoch):
    for rows in np.random.default_rng(epoch).permutation(64).reshape(4, 16):
        yield jnp.asarray(POINTS[rows]), jnp.asarray(SIDES[rows])


def loss(model, batch, key):
    points, sides = batch
    logits = jax.vmap(model)(points) + 0.01 * jr.normal(key, sides.shape)
    return optax.sigmoid_binary_cross_entropy(logits, sides).mean()


def score(model):
    return float(np.mean((np.asarray(jax.vmap(model)(jnp.asarray(POINTS))) > 0) == (SIDES > 0)))


def go(**more):
    from cdl_arch.train import one_cycle, train

    model = eqx.nn.MLP(2, "scalar", 8, 1, key=jr.key(0))
    options = {"batches": batches, "score": score, "epochs": 5, "key": jr.key(1), "rate": one_cycle(20, 0.05)}
    return train(model, optimiser=OPTIMISER, **{"loss": loss, **options, **more})


def numbers(run):
    """All of a run but what is of this machine and this time."""
    rest = [run.model, run.best, run.state, run.epoch, run.steps, run.losses, run.scores]
    return eqx.filter(rest, eqx.is_array_like)


def test_a_run_is_the_same_each_time_and_its_programs_are_shared():
    first, second = go(), go()
    assert first.programs <= 1
    assert second.programs == 0
    assert eqx.tree_equal(numbers(first), numbers(second))
    assert first.losses[-1] < first.losses[0]
    assert first.steps == 20
    assert first.epoch == 5
    assert (first.seconds > 0).all()


def test_a_run_that_is_broken_off_goes_on_to_the_same_numbers(tmp_path):
    whole, file, calls = go(), tmp_path / "folder" / "run.ckpt", []

    def interrupted(model):
        calls.append(model)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return score(model)

    with pytest.raises(KeyboardInterrupt):
        go(score=interrupted, checkpoint=file)
    seen = []
    resumed = go(batches=lambda epoch: seen.append(epoch) or batches(epoch), checkpoint=file, resume=True)
    assert seen == [3, 4]
    assert eqx.tree_equal(numbers(whole), numbers(resumed))
    assert go(batches=lambda epoch: pytest.fail("it was done"), checkpoint=file, resume=True).epoch == 5


def test_a_run_is_taken_out_of_its_checkpoint_as_far_as_it_came(tmp_path):
    from cdl.errors import CheckpointError
    from cdl_arch.train import load_run

    def interrupted(epoch):
        if epoch == 2:
            raise KeyboardInterrupt
        return batches(epoch)

    with pytest.raises(KeyboardInterrupt):
        go(batches=interrupted, checkpoint=tmp_path / "a")
    other = eqx.nn.MLP(2, "scalar", 8, 1, key=jr.key(9))
    run = load_run(tmp_path / "a", other, optimiser=OPTIMISER, epochs=5)
    assert run.epoch == 2
    assert np.isfinite(run.losses).tolist() == [True, True, False, False, False]
    assert score(run.best) == max(run.scores[:2])
    with pytest.raises(CheckpointError, match="epochs"):
        load_run(tmp_path / "a", other, optimiser=OPTIMISER, epochs=4)


def test_without_resume_a_checkpoint_is_begun_anew(tmp_path):
    go(checkpoint=tmp_path / "a")
    seen = []
    go(batches=lambda epoch: seen.append(epoch) or batches(epoch), checkpoint=tmp_path / "a")
    assert seen == [0, 1, 2, 3, 4]


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    from cdl.errors import CheckpointError

    go(checkpoint=tmp_path / "a")
    with pytest.raises(CheckpointError, match=r"epochs(?s:.)*losses"):
        go(checkpoint=tmp_path / "a", resume=True, epochs=6)


def test_the_best_epoch_is_kept_and_of_equal_ones_the_last():
    kept = []
    scores = iter([0.5, 0.9, 0.7, 0.9, 0.8])
    run = go(score=lambda model: kept.append(model) or next(scores))
    assert run.best_epoch == 3
    assert eqx.tree_equal(run.best, kept[3])
    assert eqx.tree_equal(run.model, kept[4])
    assert not eqx.tree_equal(run.best, run.model)


def test_a_score_that_is_not_a_number_is_never_the_best():
    kept = []
    scores = iter([float("nan"), 0.9, float("nan"), 0.7, 0.8])
    with pytest.warns(UserWarning, match="epoch 0 is nan") as told:
        run = go(score=lambda model: kept.append(model) or next(scores))
    assert len(told) == 1
    assert run.best_epoch == 1
    assert eqx.tree_equal(run.best, kept[1])
    with pytest.warns(UserWarning, match="`best`"):
        run = go(score=lambda model: float("nan"), epochs=2)
    assert run.best_epoch == -1
    assert not eqx.tree_equal(run.best, run.model)


def test_a_loss_that_is_not_a_number_is_told_once():
    with pytest.warns(UserWarning, match="jax_debug_nans") as told:
        go(loss=lambda *given: loss(*given) * jnp.nan, epochs=3)
    assert len(told) == 1
    with pytest.warns(UserWarning, match="jax_debug_infs"):
        go(loss=lambda *given: loss(*given) + jnp.inf, epochs=1)


def test_the_rate_multiplies_the_change_of_each_step():
    still = go(rate=lambda step: 0.0)
    assert eqx.tree_equal(still.model, eqx.nn.MLP(2, "scalar", 8, 1, key=jr.key(0)))


def test_one_cycle_goes_up_to_its_peak_and_down_to_nothing():
    from cdl_arch.train import one_cycle

    rate = one_cycle(100, 0.5)
    rates = [rate(step) for step in range(101)]
    assert rates[0] == 0.5 / 25
    assert max(rates) == rates[10] == 0.5
    assert rates == sorted(rates[:11]) + sorted(rates[11:], reverse=True)
    assert rates[100] == 0


def test_a_bar_is_drawn_where_it_is_asked_for(capfd):
    go(progress=True, title="points")
    assert "points" in capfd.readouterr().err
    go(progress=False)
    assert capfd.readouterr().err == ""


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A home of one's own, in which every program is worth keeping."""
    from cdl_arch import _cache

    monkeypatch.setattr(_cache, "folder", lambda: tmp_path / "programs")
    enabled, least = jax.config.jax_enable_compilation_cache, jax.config.jax_persistent_cache_min_compile_time_secs
    jax.config.update("jax_enable_compilation_cache", True)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    yield tmp_path
    jax.config.update("jax_enable_compilation_cache", enabled)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", least)


def another(model, batch, key):
    return loss(model, batch, key)


def test_programs_are_kept_on_disk_while_it_trains(home):
    before = numbers(go(loss=lambda *inputs: another(*inputs)))
    kept = set((home / "programs").iterdir())
    assert kept
    assert jax.config.jax_compilation_cache_dir is None
    jax.jit(lambda x: x * 3 + 1)(jnp.arange(7.0))
    assert set((home / "programs").iterdir()) == kept
    again = numbers(go(loss=lambda *inputs: another(*inputs)))  # read from there
    assert eqx.tree_equal(again, before)


def test_programs_are_not_kept_where_they_are_not_wanted(home):
    go(loss=lambda *inputs: another(*inputs), cache=False)
    jax.config.update("jax_enable_compilation_cache", False)
    go(loss=lambda *inputs: another(*inputs))
    assert not (home / "programs").exists()


def test_a_folder_that_jax_has_is_used(home):
    jax.config.update("jax_compilation_cache_dir", str(home / "own"))
    try:
        go(loss=lambda *inputs: another(*inputs))
        assert jax.config.jax_compilation_cache_dir == str(home / "own")
    finally:
        jax.config.update("jax_compilation_cache_dir", None)
    assert not (home / "programs").exists()


def test_the_folder_is_the_users(monkeypatch, tmp_path):
    from cdl_arch import _cache

    monkeypatch.setattr(_cache.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert _cache.folder().parent == tmp_path / "cdl_arch" / "programs"


def test_numbers_of_python_that_differ_between_batches_are_warned_of():
    three = lambda *numbers: lambda epoch: [(batch, x) for batch, x in zip(batches(epoch), numbers, strict=False)]
    weighed = lambda model, batch, key: batch[1] * loss(model, batch[0], key)
    with pytest.warns(UserWarning, match="jnp.asarray"):
        assert go(batches=three(1.0, 2.0, 3.0), loss=weighed, epochs=1).programs == 3
    assert go(batches=three(2.0, 2.0, 2.0), loss=lambda *given: weighed(*given), epochs=1).programs == 1


def test_a_run_is_shown_in_a_line():
    run = go()
    assert re.fullmatch(r"Run of MLP: 5 of 5 epochs, loss 0\.\d+, best score at epoch [0-4]", repr(run))
    assert repr(go(epochs=0)) == "Run of MLP: 0 of 0 epochs"
