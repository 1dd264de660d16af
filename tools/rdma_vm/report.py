# SPDX-License-Identifier: Apache-2.0
"""Rows out of the files that the guest's scripts left, and the table of them."""
import json
import re
import statistics
import time

from . import figures

BULK, LARGE = 1 << 20, 16 << 20
NOTE_COLUMNS = 300
OVERTAKEN_MAX = 10  # of hip_bench's packets; some 60 in each run while the worker's mover went where it liked
OURS = {'ours': 'transport_bench', 'ours_trip': 'transport_bench (trips)', 'ours_bulk': 'transport_bench (bulk)',
        'ours_unpinned': 'transport_bench (bulk, unpinned)'}
SIZES = {BULK: '1 MiB', LARGE: '16 MiB'}


def read(path):
    try:
        return path.read_text(errors='replace')
    except OSError:
        return ''


def status_of(path):
    try:
        return int(path.with_name(path.name + '.status').read_text())
    except (OSError, ValueError):
        return None


def text_of(out, name):
    return read(out / (name + '.txt'))


def why(out, name):
    """The last words of what failed."""
    status = status_of(out / name)
    words = ' '.join((read(out / (name + '.txt')) + read(out / (name + '.err'))).split()[-60:])[-NOTE_COLUMNS:]
    if status is None:
        return 'it did not run'
    return ('it met its limit; ' if status in (124, 137) else f'exit status {status}; ') + words


def check(name, good, note):
    return {'row': 'check', 'name': name, 'result': 'passed' if good else 'FAILED', 'note': note}


def failed(name, note):
    return check(name, False, note)


def rows_of_conformance(out):
    name = 'conformance, real verbs'
    if status_of(out / 'conformance_list') != 0:
        return [failed(name, why(out, 'conformance_list'))]
    if figures.gtest_tests(text_of(out, 'conformance_list')) == 0:
        return [failed(name, 'no rdma tests in this build')]
    return [row_of_suite(out, 'conformance', name)]


def first_failure(text):
    """What the first check that failed says: the file's line and the two lines behind it."""
    found = re.search(r'^(\S+:\d+): Failure\n(.*\n?.*)', text, re.MULTILINE)
    return f'; first: {found[1].rsplit("/", 1)[-1]}: {" ".join(found[2].split())}' if found else ''


def row_of_suite(out, part, name):
    counts = figures.gtest_counts(text_of(out, part))
    note = f'{counts["passed"]} passed, {counts["failed"]} failed, {counts["skipped"]} skipped'
    status = status_of(out / part)
    if counts['running']:
        note += f'; it ended (status {status}) in {counts["running"]}'
    if counts['names']:
        note += ': ' + ', '.join(counts['names']) + first_failure(text_of(out, part))
    if counts['passed'] + counts['failed'] == 0:
        note += '; ' + why(out, part)
    # A suite that skips everything proves nothing.
    return check(name, status == 0 and counts['passed'] > 0, note)


def rows_of_hello(out):
    rows = []
    for transport in ('rdma', 'tcp'):
        name = f'hello_{transport}'
        good = status_of(out / name) == 0 and 'PASSED: all' in text_of(out, name)
        rows.append(check(f'hello_hip over {transport}', good, '' if good else why(out, name)))
    return rows


# Of auto: file, what it is about, the transport that it takes, and what it says of one that it does not take.
AUTO = (('auto', 'auto', 'rdma', ''),
        ('auto_no_device', 'auto, no such device', 'tcp', 'there is no device "none_of_these"'),
        ('auto_refused', 'auto, no device at the worker', 'tcp', 'rdma cannot be used: the worker refused'),
        ('auto_cut', 'auto, the wire cut', 'tcp', 'rdma cannot be used: '),
        ('auto_socket', 'auto, on one host', 'shm', ''))


def rows_of_auto(out, wanted=AUTO):
    rows = []
    for name, what, transport, reason in wanted:
        said = read(out / (name + '.err'))
        good = status_of(out / name) == 0 and 'PASSED: all' in text_of(out, name)
        good = good and f' over {transport}, ' in said and reason in said
        note = '' if good else f'wanted "over {transport}"' + (f' and "{reason}"' if reason else '')
        rows.append(check(f'hello_hip over {what}: {transport}', good, note and f'{note}; {why(out, name)}'))
    return rows


def rows_of_info(out):
    """That hip-remote info lists both devices as they are."""
    try:
        transports = {row['name']: row for row in json.loads(text_of(out, 'info'))['transports']}
        good = transports['rdma']['available'] and all(
            any(line.startswith(f'{name} (software): port 1 active') and address in line
                for line in transports['rdma']['details'])
            for name, address in (('rxe0', '10.9.0.1'), ('rxe1', '10.9.0.2')))
    except (ValueError, KeyError, TypeError):
        good = False
    return [check('devices in hip-remote info', good, '' if good else why(out, 'info'))]


def rows_of_serving(out):
    """Of the near machine: the worker, and the server of the verbs."""
    good = status_of(out / 'serve') == 0
    return [check('serving at the near machine', good, '' if good else why(out, 'serve'))]


def rows_of_verbs(out):
    good = status_of(out / 'verbs') == 0 and 'iters in' in text_of(out, 'verbs')
    return [check('verbs between the machines', good, '' if good else why(out, 'verbs'))]


# With keys: file, what it is about, whether it works, and what is said then.
KEYED = (('hello_tcp', 'tcp, encrypted', True, 'over tcp (level encrypt)'),
         ('hello_rdma', 'rdma, both sides proven', True, 'over rdma (level auth)'),
         ('auto', 'auto, at the level auth', True, 'over rdma (level auth)'),
         ('auto_encrypt', 'auto, at the level encrypt', True, 'over tcp (level encrypt)'),
         ('rdma_encrypt', 'rdma at the level encrypt', False, 'rdma cannot encrypt what it carries'),
         ('no_key', 'tcp without a key', False, 'keygen'))


def rows_of_keys(out):
    rows = []
    for name, what, works, said in KEYED:
        ran = status_of(out / name) == 0 and 'PASSED: all' in text_of(out, name)
        good = ran == works and said in read(out / (name + '.err'))
        note = '' if good else f'wanted {"" if works else "to fail with "}"{said}"; {why(out, name)}'
        rows.append(check(f'hello_hip over {what}' if works else f'refused: {what}', good, note))
    return rows


def rows_of_hip_bench(out):
    found, broken = {}, []
    for transport in ('rdma', 'tcp'):
        for path in sorted((out / f'hip_bench_{transport}').glob('*.txt')):
            name = f'hip_bench_{transport}/{path.stem}'
            rows = figures.our_rows(read(path))
            if status_of(out / name) != 0 or not rows:
                broken.append(failed(f'hip_bench {path.stem} over {transport}', why(out, name)))
            for key, value in rows.items():
                found.setdefault(key, {})[transport] = value
        if not any(transport in values for values in found.values()) and not broken:
            broken.append(failed(f'hip_bench over {transport}', why(out, f'hip_bench_{transport}')))
    rows = []
    for (metric, size), values in found.items():
        row = {'row': 'figure', 'name': 'hip_bench ' + metric + (f', {size} bytes' if size else ''),
               'unit': next(iter(values.values()))['unit'], 'ours': values.get('rdma', {}).get('value'),
               'limit': values.get('tcp', {}).get('value'), 'limit_name': 'ours over tcp, not on that wire',
               'ucx': None}
        beside = {'h2d': 'ib_read_bw', 'd2h': 'ib_write_bw'}.get(metric.split('_')[0])
        limit = median_of(out, [beside], figures.perftest_bandwidth) if beside and size >= BULK else None
        if limit is not None:
            row.update(limit=limit, limit_name=f'{beside}, 1 MiB')
        rows.append(with_ratio(row))
    return broken + rows + [row_of_order(out)]


def row_of_order(out):
    """A software device sends from the processor that posts: a mover that changes places overtakes itself."""
    text = text_of(out, 'overtaken').strip()
    good = text.isdecimal() and int(text) <= OVERTAKEN_MAX
    return check('packets of hip_bench stay in order', good, '' if good else f'{text or "?"} came out of order')


def with_ratio(row):
    """Adds ratio (ours over the limit) and whether ours is ahead of UCX."""
    ours, limit, ucx = row['ours'], row['limit'], row['ucx']
    row['ratio'] = ours / limit if ours is not None and limit else None
    row['ahead'] = None
    if ours is not None and ucx is not None:
        row['ahead'] = ours > ucx if row['unit'] == 'GB/s' else ours < ucx
    return row


def median_of(out, names, reader):
    """The median over the rounds of what `reader` finds in the first file of `names` that has it; None: in none."""
    found = []
    for folder in sorted((out / 'figures').glob('*')):
        values = (reader(read(folder / (name + '.txt'))) for name in names)
        value = next((value for value in values if value is not None), None)
        if value is not None:
            found.append(value)
    return statistics.median(found) if found else None


# What is compared: name, our metric, perftest's tool, UCX's files, and what UCX calls it.
UP = ('client to worker', 'bulk_send', 'ib_read_bw', 'ucx_get', 'ucp_get')
DOWN = ('worker to client', 'bulk_receive', 'ib_write_bw', 'ucx_put_bw', 'ucp_put_bw')
# ucp_get tells nobody; of UCX's messages, of which both ends know, as of ours, the quickest.
UP_MESSAGES = UP[:3] + ('ucx_am_bw', 'ucp_am_bw')


def row_of_bulk(out, way, size, stream=False, unpinned=False):
    """Others stream; of what they have no figure of that size it is their 1 MiB that ours stands beside."""
    name, metric, perftest, ucx, ucx_name = way
    metric += '_stream' if stream else ''
    name += f', {SIZES[size]}' + (', a stream' if stream else '') + (', unpinned' if unpinned else '')
    placed = '_unpinned' if unpinned else ''
    ours = ['ours_unpinned'] if unpinned else ['ours_bulk', 'ours']
    other = median_of(out, [ucx + ('_large' if size == LARGE else '') + placed], figures.ucx_bandwidth)
    return {'name': name, 'unit': 'GB/s', 'ucx': other, 'ucx_name': ucx_name,
            'ours': median_of(out, ours, lambda text: figures.our_bandwidth(text, metric, size)),
            'limit': median_of(out, [perftest + placed], figures.perftest_bandwidth),
            'limit_name': f'{perftest}, 1 MiB'}


def rows_of_figures(out, quick):
    trip = median_of(out, ['ib_write_lat'], figures.perftest_round_trip)
    tag = median_of(out, ['ucx_tag_lat'], figures.ucx_round_trip)
    ours = median_of(out, ['ours_trip', 'ours'], figures.our_round_trip)
    rows = [{'name': '64 B round trip', 'unit': 'us', 'ours': ours, 'limit': trip, 'limit_name': '2 x ib_write_lat',
             'ucx': tag, 'ucx_name': '2 x tag_lat'}]
    if not quick:
        sent = median_of(out, ['ib_send_lat'], figures.perftest_round_trip)
        rows.append(dict(rows[0], name='64 B round trip, two-sided', limit=sent, limit_name='2 x ib_send_lat'))
    rows += [row_of_bulk(out, way, BULK) for way in (UP, DOWN)]
    if not quick:
        rows += [row_of_bulk(out, way, BULK, stream=True, unpinned=unpinned)
                 for unpinned in (False, True) for way in (UP, DOWN)]
        told = row_of_bulk(out, UP_MESSAGES, BULK, stream=True)
        rows.append(dict(told, name=told['name'] + ', beside messages'))
        rows += [row_of_bulk(out, way, LARGE) for way in (UP, DOWN)]
    rows = [with_ratio({'row': 'figure', **row}) for row in rows]
    return rows + missing_figures(out, rows)


def missing_figures(out, rows):
    """A check for what gave no figure, with its own words."""
    broken = {}
    for folder in sorted((out / 'figures').glob('*')):
        for path in folder.glob('*.status'):
            name = path.stem
            if status_of(folder / name) != 0:
                broken[name] = why(folder, name)
    found = [failed('measuring with ' + OURS.get(name, name), note) for name, note in sorted(broken.items())]
    if not found and any(row['ours'] is None or row['limit'] is None for row in rows):
        found.append(failed('measuring', 'a figure is missing, and no program said why (--keep shows their output)'))
    return found


def rows_of_amd(out, wanted):
    """Of AMD's own runtime. Skipped where this host has none, or cannot build what stands below it; but not if it is
    `wanted` by name."""
    name, text = "API tests on AMD's runtime over rdma", text_of(out, 'amd_api')
    skipped = re.search(r'^all tests skipped: (.*)', text, re.MULTILINE)
    if skipped:
        return [{'row': 'check', 'name': name, 'result': 'FAILED' if wanted else 'skipped', 'note': skipped[1]}]
    counts = re.search(r'^rdma: (.*)', text, re.MULTILINE)
    good = status_of(out / 'amd_api') == 0 and counts is not None
    rows = [check(name, good, counts[1] if good else why(out, 'amd_api'))]
    natively, remotely = text_of(out, 'amd_random_natively'), text_of(out, 'amd_random')
    same = natively == remotely and len(natively.split()) > 0
    over_rdma = ' over rdma, ' in read(out / 'amd_random.err')
    broken = next((part for part in ('amd_random_natively', 'amd_random') if status_of(out / part) != 0), None)
    note = (why(out, broken) if broken else 'natively and over rdma other numbers' if not same
            else '' if over_rdma else 'the client does not say that it was connected over rdma')
    return rows + [check("rocRAND on AMD's runtime over rdma", same and over_rdma and not broken, note)]


def rows_of_tests(out, parts, quick):
    rows = []
    if 'conformance' in parts:
        rows += rows_of_conformance(out)
    if 'verbs' in parts:
        rows.append(row_of_suite(out, 'real_verbs', 'verbs on a device'))
    if 'hello' in parts:
        rows += rows_of_hello(out) + rows_of_auto(out) + rows_of_info(out)
    if 'api' in parts:
        rows.append(row_of_suite(out, 'api', 'API tests over rdma'))
    if 'amd' in parts:
        rows += rows_of_amd(out, wanted=parts == ['amd'])
    if 'hip_bench' in parts:
        rows += rows_of_hip_bench(out)
    if 'figures' in parts:
        rows += rows_of_figures(out, quick)
    return rows


def rows_of_unittest(out, part, title):
    """From unittest's own lines: "test_name (class) ... ok", with what failed told at the end."""
    rows, text = [], text_of(out, part) + read(out / (part + '.err'))
    for line in text.splitlines():
        name, middle, result = line.rpartition(' ... ')
        if not middle or not name.startswith('test_'):
            continue
        shown = name.split()[0][len('test_'):].replace('_', ' ')
        rows.append({'row': 'check', 'name': shown, 'note': result if result != 'ok' else '',
                     'result': 'passed' if result == 'ok' else 'skipped' if result.startswith('skipped') else 'FAILED'})
    if not rows or (status_of(out / part) != 0 and all(row['result'] == 'passed' for row in rows)):
        rows.append(failed(title, why(out, part)))
    return rows


def rows_of_faults(out):
    return rows_of_unittest(out, 'faults', 'fault tests') + rows_of_unittest(out, 'cgroups', 'limits by cgroups')


def eventually(condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def number(value):
    return '-' if value is None else f'{value:.4g}'


def cells(row):
    if row['row'] == 'check':
        return [row['name'], row['result'], '', '', '', '', row['note']]
    ahead = {True: 'yes', False: 'no', None: '-'}[row['ahead']]
    note = 'limit: ' + row['limit_name'] + (f'; UCX: {row["ucx_name"]}' if row['ucx'] else '')
    return [row['name'], f'{number(row["ours"])} {row["unit"]}', number(row['limit']), number(row['ratio']),
            number(row['ucx']), ahead, note]


def show(rows):
    """ONE table: checks and figures."""
    lines = [['what', 'result', 'limit', 'ratio', 'UCX', 'ahead', '']] + [cells(row) for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]) - 1)]
    for line in lines:
        print('  '.join([cell.ljust(width) for cell, width in zip(line, widths)] + line[-1:]).rstrip())
    bad = sum(1 for row in rows if row.get('result') == 'FAILED')
    print(f'rdma-vm: {bad} FAILED' if bad else 'rdma-vm: everything passed')
