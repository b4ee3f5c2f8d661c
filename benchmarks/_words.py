"""What the page says of each section, above its table."""

LAUNCHES = """\
## Operations that a step starts

On a GPU each operation is started from the host, which takes about 5 µs, and each turn of a loop waits for what went
before. No GPU was at hand; but the operations that a step executes can be counted on a CPU, also of the program that a
GPU gets: a level in one chunk, and a product by constructor in one operation, where a CPU has a loop over tiles. A step
is forward + backward; the width does not matter.
"""

MEMORY = """\
## Memory

How far one training step raises the memory of a process above what it held before, with weights, trees and compiled
program in it already; Python's functions with weights for each constructor.
"""

COMPILING = """\
## Compiling

A program is compiled once for all forests of a bucket. What does it cost? Cases that differ in their weights alone are
one program, so that the first rows below are of two programs each. The next four are of one signature with eight
constructors of two children, of which 1, 2, 4 and 8 are distinct programs. The last two are trees that grow, by a
coalgebra that proposes 8 layers, or 80, with a cell for each. Seconds, tracing included:
"""

PACKING = """\
## Packing

Trees become arrays on the host. `pack` starts from objects each time; a `Corpus` has flattened them once, and packs
a batch in a few operations on whole arrays. As a share of the training step above that it feeds:
"""

EPOCH = """\
## An epoch of the first network

[The first network](first_network.md) with a cell for each constructor, its trees and its batches of 64: the loss, its
gradient and AdamW, from the same weights, with equal losses. Here batches are packed as they are drawn, in the time
that is shown; PyTorch, by levels, has its indices beforehand.
"""

CHAIN = """\
## Depth

The worst shape is a list: one node to a level, and no two at once. A GRU cell reads one, as a tree and by a
plain `lax.scan`, whose program knows nothing of trees:
"""

SEQUENCES = """\
## Sequences

A GRU and an LSTM of width 256 read 64 lists of 256 elements, and give every hidden state; the gradient is that of the
weights. `annotate` is the default; without its own reverse rule (`Scan(bulk=False)`) it is the plain scan.
The others, flax's `nn.RNN` among them, have the same
weights, and equal losses and gradients. The floor counts products: two forward, and three more for the gradient, since
the elements' own is not asked for.
"""

RAGGED = """\
The functions of Python's standard library are lists as well, as long as their syntax has nodes. Padded, each is as long
as the longest; packed, they lie end to end. *Fill* is the share of steps that hold an element.
"""

MACHINES = """\
## Machines

The same cells as Mealy machines, which answer with their next hidden state: `run` on a `Seq`, and a `lax.scan` by hand,
with equal outputs and gradients.
"""

STREAM = """\
One sequence, one input at a time, from Python: `step` of what `start` gives, and the cell under `jit`, which is given
its arrays in a flat list.
"""

GROWTH = """\
## Growing

Trees of 20 to 60 leaves are grown from vectors of width 128: at each node a coalgebra gives a leaf and a fork, with
scores, and one is taken. `unfold` makes the leaves' labels. `refold` reads the trees as they are grown, and keeps none.
PyTorch grows all nodes of one depth at once. It runs twice: as it grows, when each level's scores say which rows go on;
and told the indices beforehand, which only a program that knows the trees can be. `follow` is one: it is given the same
trees, with labels, and says how likely each of them is. *Halves* is a `refold` that needs no choice: lists of 64
elements, cut in two until there is one, beside the loop over levels written by hand in JAX. `ana` is the
definition, one node at a time, on two trees and scaled up.
"""

SCANS = """\
## Brackets

A product that is associative may be bracketed at will. Each cell has the time forward and forward + backward; all
prefixes, or where it says so the product of all alone. *Operations* are those of one product of two elements, as they
are counted to choose the way.
"""

WIDTHS = """\
## The rows of a chunk

`pack` chooses the sizes of chunk for a batch, three at most: those at which padding rows and the chunks themselves, at
32 rows each, cost least. A further size has to save a tenth of the cost, since it is compiled. Here the same forest is
cut to other sizes as well, width 128:
"""

SIGNATURES = """\
## Signatures of a hundred constructors

The same functions of the standard library, read by the child-sum Tree-LSTM with separate weights for each
constructor: with the classes of `ast` dealt out to 4 constructors, with one for each class, and with these as a family
of three sorts, expressions, statements and the rest, whose children are in one `Many` for each sort or in fields by
name. In brackets, the time for a node over that of 4 constructors:
"""

LEARNING = """\
## Learning as one composite

A step of learning with Adam: model, loss and optimiser as one composite of optics, and a step written by hand
with `value_and_grad`, from the same parameters and with the same ones after it. The composite also checks that
every label is a class. Each is traced and compiled three times, in turn and from empty caches: whoever comes first in a
process pays for what JAX traces only once in it.
"""

CORES = """\
## More cores

On a CPU, XLA gives the small operations of a loop to one core at a time. With one device for each core there is one
loop for each: `balance` and `shard` deal out the trees, each device folds its part, and the gradient of the weights is
summed once. Beside it, one device with all trees, and PyTorch by levels on all cores, in the same process, which keeps
its memory ([many devices](many-devices.md#all-cores-of-a-cpu) has the line to copy).
"""

GROWTH_ON_CORES = """\
Growing divides in the same way: each device has its part of the seeds, and of the trees that `follow` is given. Width
128, the trees of [growing](#growing).
"""

SOLVING = """\
## Solving for the maps that commute

`hom(X, X)` for three actions on `n` places; the last one has signs: the best of seven runs. The generators are
arrays of indices, and the answer is one label for each of the `n²` weights, so the time should grow with these.
"""

EMLP = """\
EMLP 1.0.3 finds a dense basis instead, by a singular value decomposition, or by gradient descent where that is too
large. It assumes that generators have inverses. It was installed for this run, with the JAX that it then gets. For a
generator that has no inverse, the second table says how much of its answer is not a number; `hom` gives 5, 13 and 17
maps there.
"""

TIED = """\
## A tied layer

One layer from 300 numbers to 300, at a batch of 32, in single precision; with the gradient of all parameters.
`Equivariant` multiplies by Fourier transforms for `C_n`, and by a sum of the inputs for `S_n`. Where the weights have
no such pattern, it gathers them by their labels into a dense matrix, which costs more than a dense layer does. At a
batch of one, a product with 300 numbers is too short to gain: the layer of `C_n` then takes 2 to 3 times as long as the
dense one. The projection has a parameter for each weight and multiplies them by `Q Qᵀ` at each call, where `Q` is an
orthonormal basis, which has 300 columns for `C_n` and 2 for `S_n`.
"""

SYSTEMS = """\
## Systems

Boxes with one machine and two inputs each, in a random diagram, for 1,000 steps; in brackets the ratio to a scan that
was written by hand for this diagram. The boxes are computed as one, and what one drives of another is a gather.
"""

NATURAL = """\
## Natural gradient

Thirty steps on 256 digits of 16 pixels, with a network of one hidden layer of 8: the mean loss of three seeds, and the
time of a step. kfac-jax was installed for this run, with the JAX before 0.8 that it needs; it adapts its own rate,
momentum and damping, and has the best of three dampings to begin with. Adam has the rate 0.1.
"""

AIMS = """\
## Targets

A ratio is the peer's time over that of cdl, or where it says *over*, the other way round.
"""

CLOSING = """\
## What was tried, and what is left

What made the difference, in the order of its size:

- **Whole levels at once.** A chunk has rows of any constructor, and a product takes each row's own weights, in tiles.
  One constructor to a chunk took ten times as many chunks.
- **Nodes that wait.** A node whose parent is computed much later waits for others of its constructor. Of Python's
  functions, 109 pairs of a stage and a constructor have rows where there were 194, so that matrices are read less
  often and tiles are fuller: a step with its gradient took 15 % less with 80 constructors in one sort, and 24 to 27 %
  less in three sorts.
- **The weights' gradient at the end.** Summed inside the loop over levels, it reads and writes a whole matrix for every
  chunk. So the reverse pass keeps the inputs of each product and the cotangents of its outputs. After the loop, each
  constructor's are multiplied once, in big tiles.
- **Small tables.** To fill a table with zeros took as long as all products. Now constants have one row for each
  constructor, leaves and inner nodes have separate tables, and a cotangent is written over its product.
- **No copies.** If a loop's body reads a buffer and scatters into it, XLA may copy the buffer in each turn, without a
  warning. A node has one edge from above, so cotangents are stored by edge and written in runs.
  Where a chunk has a single row, as in a chain, the rows that it writes over are read at the end of the turn before.
- **Edges, not arities.** A chunk has a number of rows and a number of edges: no arity is padded, and one program serves
  all arities.
- **Cases that are one program share it**, with their weights stacked.
- **Products kept, gates computed again.** Keeping everything writes more than it saves where memory is slow.

What is left is in the table of the reverse pass: the column *rest*. Small chunks near the roots multiply below the
peak, and no schedule of exact trees can avoid them all; a peer that works by levels meets the same ones.

Where an aim is missed:

- **PyTorch: the machine.** PyTorch's steps are products and little else, and a level is one product, on all cores.
  Its library makes up to 320 GFLOP/s here, and XLA's 200 to 290 on the largest; on binary trees of width 256, XLA's
  products by themselves (*alone*, above) take as long as PyTorch's whole step. What stands around them, XLA runs on
  one core for each device. So the faster a machine multiplies, the better for PyTorch. An earlier run was on one that
  made 154 to 194 GFLOP/s. There `fold` took as long as here, and PyTorch a fifth to a quarter longer: on all cores
  and with the gradient, `fold` was 1.81 and 1.27 times as fast with stacks (widths 128 and 256), 1.45 and 1.32 with
  one set, 1.59 and 1.13 on binary trees.
- **PyTorch: where the time goes.** On one core, with half of the binary trees, products are six tenths of a step at
  width 128, and seven tenths at 256. Then come writes to tables (9 and 7 %), gathers (7 and 5 %), curves (11 and 8 %)
  and zeros (5 and 3 %). A step touches 18,000 to 64,000 new pages of memory, unless the process keeps them. Of what
  was tried last, two things helped: to make the sum of a shared weight's gradient with more columns than rows, and
  turn it in the end (that sum takes 0.67 to 0.9 times as long), and to copy no stack where a forest lacks some
  constructors.
- **PyTorch: what brought nothing.** Two loops in one program, which XLA runs one after another, also with its
  scheduler for concurrency; wider vectors; XLA's other libraries for products, which take 1.3 to 1.9 times as long;
  the product of the weights' gradient with its first operand transposed beforehand, or in tiles of other sizes;
  tables that are not filled, for which XLA has no way on a CPU; huge pages, as `GLIBC_TUNABLES` gives them, which are
  as good as tcmalloc at a width of 128 and slower at 256; and to set the allocator of Linux from inside a process,
  since XLA's threads have arenas of their own.
- **JAX, unrolled for this forest.** It knows the trees when it is compiled: its levels have no rows to fill up, and it
  reads most states as slices, where `fold` reads them by index. It compiles anew for the next batch.
- **`corpus[batch]`.** It hands some 20 arrays to the device, copies the payload once, and finds which nodes wait, which
  takes a fifth of it and shortens the step by more. Beside `Corpus.batches` it runs on a thread.
- **`step`.** Python takes 6 µs for a look whether anything changed that the cell reads, and for the machine that comes
  next; compiled cells as small as these take 20.
- **Weights for each constructor, with the gradient.** Rows of a level are sorted by constructor, and many tiles are not
  full. Tiles of 16 and 128 rows were the fastest of those tried.
- **Growing, on one device.** XLA gives a product of fewer than some 17 million multiplications to one core: at a width
  of 128, one of less than 1,024 rows. It then makes 105 GFLOP/s, and larger ones 130 to 175. The blocks that grow
  together have 128 rows, so that few rows are computed in vain; with larger blocks a step takes as long. With a device
  for each core both work, and growing is faster than PyTorch (*More cores*).
- **Compiling.** Other programs kept this machine busy. On a quieter one, in an earlier run, one sort took 2.4 seconds,
  three 7.0, and fields by name 23.1. With fields by name, Python traces for 7 of the seconds, and XLA compiles 4,400
  kernels. Its faster settings bring nothing: without its newer emitters it takes three times as long, and at a lower
  level of optimisation as long as before.

On other machines the balance is another: the figures here are for few cores and say nothing of GPUs.

**Next:** [errors by message](errors.md), or back to [how `fold` runs](how-fold-runs.md).
"""
