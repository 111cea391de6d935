/** What the documents show is what the code, the examples and the configuration have. */
import { expect, test } from 'vitest'
import { firstSteps } from '../../../dev/first-steps.ts'
import { ENDPOINTS } from '../../../src/service/endpoints.ts'
import { anchorsIn, chapterOf, codeBlocks, namedFiles, proseOf } from '../../support/markdown.ts'
import { filesIn, textOf } from '../../support/repository.ts'
import { markdownIn } from './pages.ts'

test('docs: each message they quote stands in the source', () => {
  const source = filesIn('src', '.ts').map(textOf).join('\n')
  const quoted = [...markdownIn('docs/api'), 'docs/limits-and-logs.md'].flatMap((page) =>
    [...proseOf(textOf(page)).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code).filter(isSentence),
  )
  // Without what varies: elided text, placeholders, numbers, and the parts that the code puts together.
  const parts = quoted
    .flatMap((message) => message.split(/…|<[^>]*>|\d+|(?=: names are lost)|[;()]|(?<=could not be)/))
    .map((part) => part.trim())

  expect(quoted.length).toBeGreaterThan(5)
  expect(parts.filter((part) => part.length > 8 && !source.includes(part))).toEqual([])
})

test('docs/workers.md and README.md: their worker is the one of examples/, shortened', () => {
  const files = namedFiles(textOf('docs/workers.md'))
  const shown = namedFiles(textOf('README.md'))

  expect([...files.keys()]).toEqual(['workflows.ts', 'catalog.ts', 'worker.ts'])
  expect([...shown]).toEqual([...files].filter(([name]) => name !== 'workflows.ts'))
  for (const [name, code] of files)
    expect(
      notIn(withoutActivities(codeOf(`examples/${name}`)), withoutComments(code)),
      `lines missing in examples/${name}`,
    ).toEqual([])
})

test('docs/client.md: its code is that of examples/typed-client.ts', () => {
  const example = codeOf('examples/typed-client.ts')
  const blocks = codeBlocks(textOf('docs/client.md'), 'ts').map(withoutComments)
  const lines = blocks.flatMap((block) => block.filter((line) => !/^(?:import|const client =)/.test(line)))

  expect(lines.length).toBeGreaterThan(20)
  expect(lines.filter((line) => !example.includes(line))).toEqual([])
})

test('docs/client.md: its code of streams is compiled', () => {
  const compiled = codeOf('test/unit/client/types.test.ts')
  const lines = codeBlocks(textOf('docs/client.md'), 'typescript').flatMap(withoutComments)

  expect(lines.length).toBeGreaterThan(7)
  expect(notIn(compiled, lines)).toEqual([])
})

test('README.md: its requests are those that npm run dev prints', () => {
  const facts = { withToken: false, docs: false, console: false, uiUrl: null, chatPageUrl: 'http://127.0.0.1:3002/' }
  const printed = firstSteps('http://127.0.0.1:3001', facts).match(/^ {2}curl .*$/gm) ?? []
  const requests = codeBlocks(chapterOf(textOf('README.md'), 'Quick start'), 'sh').flatMap(
    (block) => block.match(/^curl .*$/gm) ?? [],
  )

  expect(requests).toEqual(printed.map((line) => line.trim()))
  expect(requests).toHaveLength(3)
})

test('README.md: says once which Node.js is needed, the one of package.json', () => {
  const versions = [...textOf('README.md').matchAll(/\bNode(?:\.js)? (\d+\.\d+|\d+ or newer)/g)].map(
    ([, version]) => `>=${version}`,
  )

  expect(versions).toEqual([JSON.parse(textOf('package.json')).engines.node])
})

test('docs: no curl repeats a request without an Idempotency-Key, and loops on a result repeat a 424', () => {
  const files = ['docs', 'deploy', 'examples'].flatMap((folder) =>
    filesIn(folder, '').filter((file) => /\.\w+$/.test(file)),
  )
  const commands = ['README.md', 'SKILL.md', 'llms.txt', ...files].flatMap((page) =>
    textOf(page)
      .replaceAll(/\\\n\s*/g, ' ')
      .split('\n')
      .filter((line) => /\bcurl .*--retry /.test(line)),
  )
  const loops = commands.filter((command) => command.includes('result?wait='))
  const sending = commands.filter((command) => !loops.includes(command))

  expect(Math.min(loops.length, sending.length)).toBeGreaterThan(0)
  expect(sending.filter((command) => !command.includes('Idempotency-Key: '))).toEqual([])
  // curl ignores the Retry-After of a 424.
  expect(loops.filter((command) => !/--retry-all-errors --retry-delay 1\b/.test(command))).toEqual([])
})

test('docs: have the section that each endpoint names', () => {
  const missing = ENDPOINTS.filter(({ docs }) => {
    const [page = '', anchor = ''] = docs.split('#')
    return !anchorsIn(textOf(`docs/${page}`)).has(anchor)
  })

  expect(missing.map(({ id, docs }) => `${id}: ${docs}`)).toEqual([])
})

test('docs/comparison.md: its figures are those of lab/benchmarks/README.md', () => {
  const rowsOf = (page: string) => [...textOf(page).matchAll(/^\| `?(\w+)`? \| .* \| (\S+ \(\S+\))(?: \(SDK\))? \|$/gm)]
  const measured = rowsOf('lab/benchmarks/README.md').map(([, request, ratio]) => `${request} ${ratio}`)
  const shown = rowsOf('docs/comparison.md').map(([, request, ratio]) => `${request} ${ratio}`)

  expect(shown.length).toBe(5)
  expect(shown.filter((figure) => !measured.includes(figure))).toEqual([])
})

test('README.md: the variables have the defaults that docs/configuration.md says', () => {
  const documented = defaultsIn('docs/configuration.md')
  const shown = defaultsIn('README.md')

  expect(shown.size).toBeGreaterThan(5)
  for (const [name, value] of shown) expect([name, value]).toEqual([name, documented.get(name)])
})

/** At least four words in a row: a message, not a name or a value. */
function isSentence(code: string): boolean {
  return /(?:[a-z']{2,} ){3}[a-z(]/i.test(code)
}

/** An example as a user's project contains it, without comments. */
function codeOf(path: string): string[] {
  return withoutComments(textOf(path).replaceAll("'../src/worker/index.ts'", "'portico/worker'"))
}

function withoutActivities(lines: string[]): string[] {
  return lines.filter((line) => !line.includes("'./activities.ts'")).map((line) => line.replace(' activities,', ''))
}

function withoutComments(code: string): string[] {
  return linesOf(code).filter((line) => !line.startsWith('//'))
}

function linesOf(code: string): string[] {
  return code
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** The wanted lines that `lines` does not contain in the same order. */
function notIn(lines: string[], wanted: string[]): string[] {
  let at = 0
  return wanted.filter((line) => {
    const found = lines.indexOf(line, at)
    if (found !== -1) at = found + 1
    return found === -1
  })
}

/** The second column of tables of variables, by name. */
function defaultsIn(page: string): Map<string, string> {
  return new Map(
    [...textOf(page).matchAll(/^\| `((?:ENGINE|SERVICE)_\w+)` \| ([^|]+) \|/gm)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  )
}
