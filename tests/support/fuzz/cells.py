"""The cells: what a user writes in a case, each a function from a vector to one of the same length, as text.

`{c}` in a text is a constant, another one at each place: cells of one text then differ only in what they close over.
`WORDS` are cells of a hash: functions of one number of 32 bits. `parts.py` has what a text names.
"""

FUNCTIONS = {
    **{name: f"jax.nn.{name}" for name in (
        "celu elu gelu hard_sigmoid hard_silu hard_swish hard_tanh identity leaky_relu log_sigmoid log_softmax mish "
        "relu relu6 selu sigmoid silu soft_sign softmax softplus sparse_plus sparse_sigmoid squareplus standardize "
        "swish tanh"
    ).split()},
    "gelu_exact": "lambda x: jax.nn.gelu(x, approximate=False)",
    "glu": "lambda x: jax.nn.glu(jnp.concatenate([x, 1 - x]))",
    "logsumexp": "lambda x: x * jax.nn.logsumexp(x)",
    "logmeanexp": "lambda x: x * jax.nn.logmeanexp(x)",
    "log1mexp": "lambda x: jax.nn.log1mexp(1 + x * x)",
    "one_hot": "lambda x: x * jax.nn.one_hot(jnp.argmax(x), len(x), dtype=x.dtype)",
    "logaddexp": "lambda x: jnp.logaddexp(x, 0.5)",
    "logit": "lambda x: jax.scipy.special.logit(jax.nn.sigmoid(x))",
    "xlogy": "lambda x: jax.scipy.special.xlogy(x, 1 + x * x)",
    "sinc": "jnp.sinc",
    "dot_product_attention": "attending",
    "where": "lambda x: jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1)), x)",
    "sort": "jnp.sort",
    "index": "lambda x: x.at[jnp.argmax(x)].add(1)[::-1]",
    "matmul": "lambda x: jnp.outer(x, x) @ x / (1 + x @ x)",
}  # fmt: skip
LAYERS = {
    "Linear": "eqx.nn.Linear(D, D, key=jr.key({c}))",
    "MLP": "eqx.nn.MLP(D, D, 4, 1, key=jr.key({c}))",
    "LayerNorm": "eqx.nn.LayerNorm(D)",
    "RMSNorm": "eqx.nn.RMSNorm(D)",
    "GroupNorm": "eqx.nn.GroupNorm(1, D)",
    "PReLU": "eqx.nn.PReLU()",
    "Dropout": "eqx.nn.Dropout(0.5)",
    "Sequential": "eqx.nn.Sequential([eqx.nn.Linear(D, D, key=jr.key({c})), eqx.nn.Lambda(jax.nn.relu)])",
    "Lambda": "eqx.nn.Lambda(jnp.sin)",
    "Identity": "eqx.nn.Identity()",
    "WeightNorm": "eqx.nn.WeightNorm(eqx.nn.Linear(D, D, key=jr.key({c})))",
    "GRUCell": "Recurrent(eqx.nn.GRUCell(D, D, key=jr.key({c})))",
    "LSTMCell": "Recurrent(eqx.nn.LSTMCell(D, D, key=jr.key({c})))",
    "MultiheadAttention": "Attention(eqx.nn.MultiheadAttention(1, D, key=jr.key({c})))",
    "Conv1d": "Convolution(eqx.nn.Conv1d(1, 1, 3, padding=1, key=jr.key({c})))",
}
CONTROL = {
    "jit": "jitted_cell({c})",
    "checkpoint": "jax.checkpoint(lambda x: jnp.sin(x * {c}))",
    "cond": "lambda x: jax.lax.cond(x[0] > 0, jnp.sin, lambda x: x * {c}, x)",
    "switch": "lambda x: jax.lax.switch(jnp.argmax(x), [jnp.sin, jnp.cos, jnp.tanh], x)",
    "scan": "lambda x: jax.lax.scan(lambda h, a: (jnp.sin(h + a), a), x, jnp.stack([x, x * {c}]))[0]",
    "fori": "lambda x: jax.lax.fori_loop(0, 3, lambda i, h: jnp.sin(h * {c}), x)",
    "vmap": "lambda x: jax.vmap(lambda a, b: jnp.sin(a) * b)(x, x[::-1])",
    "grad": "jax.grad(lambda x: jnp.sum(jnp.sin(x) * x))",
    "custom_jvp": "ruled_forward({c})",
    "custom_vjp": "ruled_backward({c})",
    "stop_gradient": "lambda x: x * jax.lax.stop_gradient(x)",
    "closure": "closing({c})",
    "both": "lambda x: jax.lax.cond((x[0] > 0) & ~(x[1] > x[2]), jnp.sin, jnp.cos, x)",
    "error_if": "lambda x: eqx.error_if(jnp.sin(x), jnp.any(jnp.isinf(x)), 'infinite')",
}
FORWARD = {  # no gradient
    "while": "lambda x: jax.lax.while_loop(lambda h: jnp.sum(h * h) > 1, lambda h: h * 0.5, x * {c})",
    "pure_callback": "calling({c})",
    "custom_vmap": "ruled_batch({c})",
}
KEYED = {
    "noise": "lambda x, key: x + jr.normal(key, x.shape).astype(x.dtype)",
    "dropout": "eqx.nn.Dropout(0.5)",
    "bernoulli": "lambda x, key: jnp.where(jr.bernoulli(key, 0.5, x.shape), x, -x)",
}
WORDS = {
    "word_plus": "lambda h: h + jnp.uint32({c})",
    "word_jit": "word_jit({c})",
    "word_closure": "word_closure({c})",
    "word_callback": "word_callback({c})",
    "word_jvp": "word_jvp({c})",
    "word_cond": "lambda h: jax.lax.cond(h % 2 == 0, lambda h: h + jnp.uint32({c}), lambda h: h * 3, h)",
    "word_loop": "lambda h: jax.lax.fori_loop(0, 3, lambda i, h: h * 5 + jnp.uint32({c}), h)",
    "word_while": "lambda h: jax.lax.while_loop(lambda h: h > 1000, lambda h: h // 3, h + jnp.uint32({c}))",
    "word_vmap": "word_vmap({c})",
}
JUMPS = {"one_hot", "index", "both", "cond", "switch", "while", "bernoulli"}  # where a rounding may decide
SMOOTH = {**FUNCTIONS, **LAYERS, **CONTROL}
EVERY = {**SMOOTH, **FORWARD, **KEYED, **WORDS}


def text(name: str, constant: int) -> str:
    """A cell as an expression; of names joined by `+`, the sum of their cells."""
    if "+" in name:
        return f"Several(({''.join(text(n, constant) + ', ' for n in name.split('+'))}))"
    return EVERY[name].replace("{c}", str(constant))
