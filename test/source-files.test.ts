/** The form of source files: their size, names, and what may be written in which of them. */
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { filesIn, linesOf, sourcesIn, textOf } from './support/repository.ts'

/** Files of src with more than 400 lines, each with the reason why it is still one thing. */
const LONG_FILES = new Map<string, string>([
  [
    'src/service/http/pipeline/places.ts',
    'what happens beyond the limit on requests in flight, from the queue to the rejection',
  ],
])

const MAX_FILES = 15

/** Folders of src with more than 15 files of their own, each with the reason why it has no subfolders. */
const WIDE_FOLDERS = new Map([
  ['src/cli/commands', 'one file per group of commands'],
  ['src/service/engine/calls', 'one file per verb of the engine'],
  ['src/service/http/endpoints', 'one file per resource of the API'],
  ['src/service/model', 'what every part of the service names'],
  ['src/shared/config', 'one file per document or group of variables'],
  ['src/shared/lib', 'tools that do not depend on each other'],
  ['src/shared/temporal', "one file per term of Temporal's vocabulary"],
])

/** Folders whose files see status codes: they speak HTTP. */
const SPEAKS_HTTP = [
  'src/service/http/',
  'src/service/fronts/',
  'src/service/openapi/',
  'src/client/',
  'src/service/runtime/',
  'src/shared/stores/',
  'src/service/engine/transport/http/',
  'src/worker/closed-runs/webhooks/',
]

const files = sourcesIn('src')

test('source files: no file of src has more than 400 lines, except those with a reason', () => {
  const long = files.filter((file) => linesOf(file) > 400)

  expect(long).toEqual([...LONG_FILES.keys()])
})

test('source files: comments have at most 120 columns, which biome does not check', () => {
  const wide = [...files, ...sourcesIn('test', 'dev', 'lab/benchmarks', 'examples')].filter((file) =>
    /^(?=.{121}) *(?:\/\/|\/?\*)/m.test(textOf(file)),
  )

  expect(wide).toEqual([])
})

test('source files: no folder of src has more than 15 files, except those with a reason', () => {
  const folders = Map.groupBy(files, (file) => posix.dirname(file))
  const wide = [...folders].filter(([, inFolder]) => inFolder.length > MAX_FILES).map(([folder]) => folder)

  expect(wide.toSorted()).toEqual([...WIDE_FOLDERS.keys()])
})

test('source files: each folder of src holds at least two files', () => {
  const parents = files.flatMap((file) => file.split('/').map((_, depth, path) => path.slice(0, depth).join('/')))
  const counts = Map.groupBy(parents, (folder) => folder)

  expect([...counts].filter(([, inFolder]) => inFolder.length < 2)).toEqual([])
})

test('source files: status codes appear only where HTTP is spoken', () => {
  const statusCode = /\bstatus(?:Code)?\b[\s:=<>]+[1-5]\d\d\b/
  const outside = files.filter((file) => !SPEAKS_HTTP.some((folder) => file.startsWith(folder)))

  expect(files.filter((file) => statusCode.test(textOf(file))).length).toBeGreaterThan(3)
  expect(outside.filter((file) => statusCode.test(textOf(file)))).toEqual([])
})

test('source files: only lib/abort.ts listens to abort signals', () => {
  const listening = files.filter((file) =>
    /\.addEventListener\('abort'|\.onabort\b|AbortSignal\.any\(/.test(textOf(file)),
  )

  // The service uses a signal as its timer: docs/decisions/020-what-is-loaded-when.md.
  expect(listening.toSorted()).toEqual(['src/service/runtime/service.ts', 'src/shared/lib/abort.ts'])
})

test('source files: only http/context.ts creates responses of the app; c.header and c.json would be lost or slow', () => {
  const creating = files
    .filter((file) => file.startsWith('src/service/http/'))
    .filter((file) => /\bc\.(header|json|body|text|newResponse)\(|new Response\(/.test(textOf(file)))

  expect(creating).toEqual(['src/service/http/context.ts'])
})

test('source files: test files extend the shared fixtures and do not override them for each other', () => {
  const overriding = sourcesIn('test')
    .filter((file) => file.endsWith('.test.ts'))
    .filter((file) => /^test\.override\(/m.test(textOf(file)) && !/^const test = /m.test(textOf(file)))

  expect(overriding).toEqual([])
})

test('source files: no file has a generic name', () => {
  const everywhere = ['src', 'test/support', 'dev', 'examples'].flatMap((folder) => filesIn(folder, ''))

  expect(everywhere.filter((path) => /(^|[/\\])(utils?|helpers?|common|types)(\.|[/\\]|$)/.test(path))).toEqual([])
})
