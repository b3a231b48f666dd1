"""Reads the output of -x oformat=json and checks it against the schema.

	t/formats/jsonlines.py FILE...

prints what is wrong, and fails if anything is.
"""
import json
import sys

import jsonschema

SCHEMA = json.load(open('doc/json.schema.json', encoding='utf-8'))
jsonschema.Draft7Validator.check_schema(SCHEMA)
VALIDATORS = {}


def validator(kind):
    """That of a kind of line alone: its complaints are about that kind."""
    if kind not in VALIDATORS:
        name = 'line-' + str(kind)
        schema = SCHEMA
        if name in SCHEMA['definitions']:
            schema = {'$ref': '#/definitions/' + name,
                'definitions': SCHEMA['definitions']}
        VALIDATORS[kind] = jsonschema.Draft7Validator(schema)
    return VALIDATORS[kind]


def constant(word):
    raise ValueError(word + ' is no JSON')


def parse(line):
    """An object; a member that comes twice is an error."""
    def members(pairs):
        names = [name for name, value in pairs]
        if len(names) != len(set(names)):
            raise ValueError('a member comes twice: ' + ' '.join(names))
        return dict(pairs)
    return json.loads(line, object_pairs_hook=members,
        parse_constant=constant)


def read(data, wrong):
    """The lines of `data', bytes; wrong(text) for each mistake."""
    lines = []
    if data and not data.endswith(b'\n'):
        wrong('the last line does not end')
    for number, raw in enumerate(data.split(b'\n')[:-1], 1):
        try:
            line = parse(raw.decode('utf-8'))
        except ValueError as error:
            wrong('line %d: %s: %r' % (number, error, raw[:200]))
            continue
        kind = line.get('type') if isinstance(line, dict) else None
        for error in validator(kind).iter_errors(line):
            wrong('line %d: %s: at %s' % (number, error.message[:300],
                '/'.join(map(str, error.absolute_path))))
        lines.append(line)
    return lines


def check_order(lines, wrong):
    """The first line says what was asked, the last one counts the others."""
    kinds = [line['type'] for line in lines]
    if not kinds or kinds[0] != 'begin':
        wrong('the first line is not "begin"')
    if kinds and kinds[-1] == 'end':
        end = lines[-1]
        if end['errors'] != sum(1 for line in lines
                if line['type'] == 'error' and 'timestamp' in line):
            wrong('"end" counts %d errors' % end['errors'])
        if end['drops'] != sum(line['count'] for line in lines
                if line['type'] == 'drop'):
            wrong('"end" counts %d drops' % end['drops'])
        if end['records'] > kinds.count('probe'):
            wrong('"end" counts %d records' % end['records'])
    elif 'description' not in kinds:
        wrong('the last line is not "end"')
    if kinds.count('begin') > 1 or kinds.count('end') > 1:
        wrong('it begins or ends more than once')


def main():
    bad = []
    for name in sys.argv[1:]:
        with open(name, 'rb') as file:
            check_order(read(file.read(), bad.append), bad.append)
    for text in bad:
        print(text)
    sys.exit(bool(bad))


if __name__ == '__main__':
    main()
