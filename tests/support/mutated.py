"""The modules of which mutants are made, the tests that have to catch them, and the mutants that live for a reason."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Mutated:
    """The tests of a module, as pytest takes them, and the mutants that none of them can catch, each with the reason.

    `equivalent` is `None` where the mutants that live have not been read yet: `make mutants` lists them, and the slow
    tests leave the module out. `sample` is how many mutants are tried, where all of them take too long.
    """

    tests: list[str]
    equivalent: dict[str, str] | None = field(default_factory=dict)
    sample: int | None = None


EXACT = "tests/laws/test_hold.py::test_laws_are_exact_where_no_tolerance_is_given"
RANDOM = "tests/laws/test_laws.py::test_the_laws_hold_on_a_random_signature_with_types_checked"
OPTICS = "tests/optics/test_optics.py::test_para_is_a_bicategory_over_sets_smooth_maps_and_optics"
CELLS = "tests/optics/test_optics.py::test_a_map_of_parameters_is_a_2_cell_where_it_is_and_not_elsewhere"
FOLDED = "tests/engine/test_fuzz.py::test_constructors_that_share_programs_agree_on_each_platform"
HOLDS = "tests/engine/test_number_types.py"

REDUCED = "tests/engine/test_number_types.py::test_reductions_are_those_of_the_definition"

SAME = "x is y or (not isinstance(x, Tracer) and (not isinstance(y, Tracer)) and same_bytes(x, y))"

MODULES = {
    "cdl/laws/_hold.py": Mutated(["tests/laws/test_hold.py"]),
    "cdl/laws/_in_place.py": Mutated(["tests/laws/test_hold.py", "tests/laws/test_broken_laws.py"]),
    "cdl/laws/_functor.py": Mutated(["tests/laws/test_broken_laws.py", EXACT, RANDOM]),
    "cdl/laws/_folds.py": Mutated(["tests/laws/test_broken_laws.py", EXACT, RANDOM]),
    "cdl/laws/_unfolds.py": Mutated(["tests/laws/test_broken_laws_of_unfolds.py", EXACT, RANDOM]),
    "cdl/laws/_machines.py": Mutated(["tests/laws/test_broken_laws_of_unfolds.py", EXACT]),
    "cdl/laws/_free.py": Mutated(
        ["tests/laws/test_broken_laws_of_monads.py", EXACT, RANDOM],
        {
            "free: `0` is `1`": "the sort of the root, which these recursions do not read",
            "cofree: `0` is `1`": "the sort of the root, which these recursions do not read",
        },
    ),
    "cdl/laws/_monad.py": Mutated(["tests/laws/test_broken_laws_of_monads.py", EXACT]),
    "cdl/laws/_interfaces.py": Mutated(["tests/laws/test_lawful.py"]),
    "cdl/laws/_parametric.py": Mutated(["tests/laws/test_broken_laws_of_parameters.py", EXACT, CELLS, OPTICS]),
    "cdl/laws/_lifted.py": Mutated(["tests/laws/test_broken_laws_of_parameters.py", EXACT]),
    "cdl/laws/_optics.py": Mutated(["tests/laws/test_broken_laws_of_optics.py", EXACT]),
    "cdl/laws/_monoidal.py": Mutated(["tests/laws/test_coherence_of_optics.py", EXACT]),
    "cdl/laws/_symmetric_monoidal.py": Mutated(
        ["tests/laws/test_broken_laws_of_categories.py", "tests/categories/test_categories.py", EXACT]
    ),
    "cdl/laws/_cokleisli.py": Mutated(
        ["tests/para/test_cokleisli.py", EXACT],
        {"co_kleisli: `2` is `3`": "a composite of two reads two copies, whatever else there is"},
    ),
    "cdl/laws/_systems.py": Mutated(["tests/system/test_wired.py", EXACT]),
    "cdl/laws/_actions.py": Mutated(["tests/symmetry/test_actions.py"]),
    "cdl/laws/_double.py": Mutated(["tests/para/test_double_cells.py"]),
    "cdl/laws/_distributive.py": Mutated(["tests/laws/test_broken_laws_of_symmetry.py", EXACT]),
    "cdl/laws/_reverse_derivative.py": Mutated(["tests/laws/test_broken_laws_of_derivatives.py", EXACT]),
    "cdl/_engine/forests/_variant.py": Mutated(
        [
            *(
                "tests/engine/forests/test_payload.py",
                "tests/engine/test_shared_programs.py",
                "tests/engine/forests/test_pack.py",
                "tests/engine/test_families.py",
            ),
            "tests/engine/test_refusals.py",
        ],
        {"_build: `case _` is left out": "a constructor with another field is refused before"},
        40,
    ),
    "cdl/_engine/forests/_payload.py": Mutated(
        ["tests/engine/forests/test_payload.py", "tests/engine/test_refusals.py"],
        {
            "_target: `group.kind + kind == 'ui' and (not group.python)` is "
            "`group.kind + kind == 'ui' or not group.python`": "a type joined with a narrower kind is itself",
            "_refuse_kind: `0` is `1`": "which of two values the message shows",
        },
        60,
    ),
    "cdl/_engine/folds/_program.py": Mutated(
        ["tests/engine/folds/test_fold_programs.py", "tests/engine/descents/test_inherit.py", FOLDED, REDUCED],
        {
            **{
                f"the module: `{n}` is `{n + 1}`": "any two sizes that differ tell rows from edges"
                for n in range(3, 12)
            },
        },
        30,
    ),
    "cdl/_engine/jaxprs/_stacks.py": Mutated(
        [
            "tests/engine/folds/test_fold_programs.py",
            "tests/engine/test_shared_programs.py",
            FOLDED,
        ],
        {f"_same: `{SAME}` is `{SAME.replace(' or ', ' and ', 1)}`": "equal weights are stacked: only slower"},
        30,
    ),
    "cdl/_engine/arrays/_lost.py": Mutated(
        ["tests/engine/forests/test_payload.py", "tests/engine/test_refusals.py", HOLDS],
        {"lost: `2 ** (_finfo(dtype).nmant + 1)` is `2 * (_finfo(dtype).nmant + 1)`": "more are looked at one by one"},
    ),
    "cdl/_engine/folds/_edges.py": Mutated(
        ["tests/engine/test_number_types.py", "tests/engine/folds/test_many.py", "tests/engine/folds/test_attend.py"],
        {"_operation.at_node: `1` is `2` (2)": "the number of a row that is none, of one row"},
        30,
    ),
    "cdl/_engine/descents/_step.py": Mutated(
        [
            *(
                "tests/engine/descents/test_inherit.py",
                "tests/engine/descents/test_follow.py",
                FOLDED,
            ),
            "tests/engine/test_number_types.py::test_what_is_inherited_has_the_type_that_is_handed_on",
            "tests/engine/test_shared_programs.py::test_a_step_that_gives_to_other_places_than_there_are_is_refused",
        ],
        {
            "Steps._stepped: `[i for i, v in enumerate(self.bucket.variants) if self.leaves or not v.leaf]` is "
            "`[i for i, v in enumerate(self.bucket.variants)]`": "a leaf hands nothing down; it is left out for speed",
            "Steps.programs: `0` is `1`": "a case is compared at either of two sizes",
            "Steps.programs: `if indexed(program, 0) is None` always holds": "more is traced: only slower",
            "Steps._given: `0` is `1`": "what a step gives has one type at either of two sizes",
            "Steps._mismatch: `f' of sort {sort}' if len(self.names) > 1 else ''` is `''`": "words of a message alone",
        },
        30,
    ),
}
