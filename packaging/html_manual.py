#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""The manual for a browser: docs/*.md, README.md and all manual pages.

usage: html_manual.py OUTPUT [DIRECTORY OF MORE MANUAL PAGES]...

Manual pages are turned by mandoc. Of Markdown only what docs/ uses is known: headings,
paragraphs, lists, tables, code, links, pictures, emphasis.
"""
import glob
import html
import os
import re
import shutil
import subprocess
import sys

STYLE = '''body{max-width:50em;margin:2em auto;padding:0 1em;font:16px/1.5 sans-serif}
pre,code{font-family:monospace;background:#f4f4f4}pre{padding:.7em;overflow:auto}
table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .5em;vertical-align:top}
img{max-width:100%}ul.names{columns:20em}
h1{font-size:1.6em}h2{font-size:1.3em}h1.Sh{font-size:1.2em}h2.Ss{font-size:1.05em}
a.permalink{color:inherit;text-decoration:none}
table.head,table.foot{width:100%;color:#666}table.head td,table.foot td{border:0;padding:0}
td.head-vol,td.foot-date{text-align:center}td.head-rtitle,td.foot-os{text-align:right}'''


def page(title, body):
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n'
            f'<body><p><a href="index.html">O2G</a></p>\n{body}\n</body></html>\n')


def link_to(target):
    """Where a link of a document leads, among the pages here."""
    path, _, anchor = target.partition('#')
    if re.match(r'[a-z]+:', target) or not path:
        return target
    if path.endswith('.md'):
        path = os.path.basename(path)[:-3] + '.html'
    elif path.endswith('.svg'):
        path = 'pictures/' + os.path.basename(path)
    else:
        return None
    return path + ('#' + anchor if anchor else '')


def inline(text):
    codes = []

    def keep(m):
        codes.append(f'<code>{html.escape(m.group(1))}</code>')
        return f'\0{len(codes) - 1}\0'

    def picture(m):
        return f'<img alt="{m.group(1)}" src="{link_to(m.group(2)) or m.group(2)}">'

    def link(m):
        to = link_to(m.group(2))
        return f'<a href="{to}">{m.group(1)}</a>' if to else m.group(1)

    text = html.escape(re.sub(r'`([^`]+)`', keep, text), quote=False)
    text = re.sub(r'!\[([^\]]*)\]\(([^)]+)\)', picture, text)
    text = re.sub(r'\[([^\]]+)\]\(([^)]+)\)', link, text)
    text = re.sub(r'\*\*(.+?)\*\*', r'<b>\1</b>', text)
    text = re.sub(r'(?<!\w)\*([^*]+)\*(?!\w)', r'<i>\1</i>', text)
    return re.sub('\0(\\d+)\0', lambda m: codes[int(m.group(1))], text)


def anchor(text):
    return re.sub(r'[^a-z0-9 -]', '', text.lower()).replace(' ', '-')


def table(lines):
    rows = [[c.strip() for c in re.split(r'(?<!\\)\|', line.strip().strip('|'))]
            for line in lines]
    out = ['<table>']
    for i, row in enumerate(rows):
        if i == 1 and all(re.fullmatch(r':?-+:?', c) for c in row):
            continue
        cell = 'th' if i == 0 else 'td'
        out.append('<tr>' + ''.join(f'<{cell}>{inline(c)}</{cell}>'
                                    for c in row) + '</tr>')
    return '\n'.join(out + ['</table>'])


def items(lines):
    """A list, whose items may go on in indented lines."""
    found, kind = [], 'ol' if re.match(r'\d+\.', lines[0]) else 'ul'
    for line in lines:
        m = re.match(r'(?:[-*]|\d+\.) +(.*)', line)
        if m:
            found.append(m.group(1))
        else:
            found[-1] += ' ' + line.strip()
    return f'<{kind}>' + ''.join(f'<li>{inline(i)}</li>' for i in found) + \
        f'</{kind}>'


def block(lines):
    first = lines[0]
    m = re.match(r'(#+) (.*)', first)
    if m:
        n, text = len(m.group(1)), m.group(2)
        rest = block(lines[1:]) if lines[1:] else ''
        return f'<h{n} id="{anchor(text)}">{inline(text)}</h{n}>\n{rest}'
    if first.startswith('|'):
        return table(lines)
    if re.match(r'(?:[-*]|\d+\.) ', first):
        return items(lines)
    if all(line.startswith('    ') for line in lines):
        return '<pre>' + html.escape('\n'.join(x[4:] for x in lines)) + '</pre>'
    for i, line in enumerate(lines[1:], 1):
        if re.match(r'(?:[-*] |\d+\. |\|)', line):
            return block(lines[:i]) + '\n' + block(lines[i:])
    return '<p>' + inline(' '.join(line.strip() for line in lines)) + '</p>'


def markdown(text):
    blocks, lines, fence = [], [], False
    for line in text.split('\n') + ['']:
        if line.startswith('```'):
            if fence:
                blocks.append('<pre>' + html.escape('\n'.join(lines)) + '</pre>')
                lines = []
            fence = not fence
        elif fence or line.strip():
            lines.append(line)
        elif lines:
            blocks.append(block(lines))
            lines = []
    return '\n'.join(blocks)


def write(output, name, text):
    with open(os.path.join(output, name), 'w') as f:
        f.write(text)


def documents(output):
    links = []
    for path in ['README.md', 'CONTRIBUTING.md'] + sorted(glob.glob('docs/*.md')):
        with open(path) as f:
            text = f.read()
        title = re.search(r'^# (.*)', text, re.M).group(1)
        name = os.path.basename(path)[:-3] + '.html'
        write(output, name, page(title, markdown(text)))
        links.append(f'<li><a href="{name}">{html.escape(title)}</a></li>')
    return links


def is_other_page(path):
    with open(path) as f:
        return f.read(4) == '.so '


def manual(output, directories):
    links, pages = {}, {}
    for directory in ['docs/man'] + directories:
        for path in sorted(glob.glob(os.path.join(directory, '*.[0-9]'))):
            if not is_other_page(path):
                pages[os.path.basename(path)] = path

    def refer(m):
        name = f'{m.group(1)}.{m.group(2)}'
        return f'<a href="{name}.html">{m.group(0)}</a>' if name in pages else m.group(0)

    for name, path in pages.items():
        body = subprocess.run(
            ['mandoc', '-T', 'html', '-O', 'fragment', path],
            check=True, capture_output=True, text=True).stdout
        body = re.sub(r'<b>([\w-]+)</b>\(([1-9])\)', refer, body)
        write(output, name + '.html', page(name, body))
        links.setdefault(name[-1], []).append(
            f'<li><a href="{name}.html">{name[:-2]}({name[-1]})</a></li>')
    return links


def main():
    output = sys.argv[1]
    os.makedirs(output, exist_ok=True)
    pictures = os.path.join(output, 'pictures')
    shutil.rmtree(pictures, ignore_errors=True)
    shutil.copytree('docs/pictures', pictures)
    body = ['<h1>The manual of O2G</h1>', '<ul>'] + documents(output) + ['</ul>']
    titles = {'1': 'Commands', '3': 'Functions', '7': 'Settings and concepts',
              '8': 'Servers'}
    for section, links in sorted(manual(output, sys.argv[2:]).items()):
        body += [f'<h2>{titles.get(section, section)}</h2>',
                 '<ul class="names">'] + links + ['</ul>']
    write(output, 'index.html', page('O2G', '\n'.join(body)))


if __name__ == '__main__':
    main()
