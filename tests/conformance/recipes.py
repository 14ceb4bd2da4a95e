"""Cases for every type combination of an op's kernels from one recipe: `each`."""

from definitions import allowed_types, definition, type_combinations
from framework import case, is_wanted, next_number
from values import begin_module as begin_values
from values import name_of, tensor, values

class Types:
    """The types of one combination by attribute: t("T", 3, 4) makes values, t.at("Tidx", [0, 1]) exact ones, t["T"] names the type."""

    def __init__(self, op, combination):
        self.given = {attr: name_of(t) for attr, t in combination}
        self.op = op

    def __getitem__(self, attr):
        if attr not in self.given:
            self.given[attr] = self._default(attr)
        return self.given[attr]

    def _default(self, attr):
        for a in definition(self.op).attr:
            if a.name == attr and a.HasField("default_value"):
                return name_of(a.default_value.type)
        allowed = allowed_types(self.op, attr)
        return "int32" if attr != "T" and 3 in allowed else name_of(1 if 1 in allowed else allowed[0])

    def __call__(self, attr, *shape, **options):
        return values(self[attr], *shape, **options)

    def at(self, attr, value):
        return tensor(value, self[attr])


def each(ops, make, keep=None, **options):
    """For every type combination of each op (names in one string): a case with the inputs make(t).

    `make` may return (inputs, attributes). `keep(t)` leaves out combinations. Other options go to case().
    """
    for op in ops.split():
        # Values of their own for each recipe, so that one may be left out without a change to the others.
        begin_values(f"{op}{next_number()}")
        for combination in type_combinations(op) or ((),):
            t = Types(op, combination)
            if keep and not keep(t):
                continue
            if not is_wanted(op):
                next_number()
                continue
            made = make(t)
            inputs, attrs = made if isinstance(made, tuple) else (made, {})
            case(op, inputs, **{**t.given, **options, **attrs})
