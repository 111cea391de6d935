/** The walls of the house: who may import whom, and what keeps the rooms small. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

interface Row {
  /** Our modules: files, or folders with all that is below. */
  ours: string[]
  /** Packages and builtins; with a slash or colon at the end all that begin so. */
  foreign: string[]
}

/**
 * For each file of src the row with the longest matching name holds, and it alone. Arrows point downwards:
 * runtime, index → portico → http, trace, engine → domain → temporal, store → protocol, json-schema → lib; worker is a program of its own.
 */
const MAY_IMPORT: Record<string, Row> = {
  'runtime/': row(
    'runtime/ portico.ts config.ts log.ts node-version.ts version.ts http/problem.ts engine/transport/ trace/from-file.ts',
    '@hono/node-server node:',
  ),
  'index.ts': row(
    'portico.ts config.ts log.ts require-node.ts runtime/engine-transport.ts domain/ engine/transport/',
    '',
  ),

  'portico.ts': row('config.ts log.ts version.ts domain/ http/ engine/ trace/ store/', ''),

  'http/': row('http/ domain/ protocol/ lib/ log.ts', 'hono hono/ zod/mini'),

  'engine/': row('engine/ domain/ temporal/ protocol/ lib/', '@temporalio/proto'),
  'engine/transport/grpc/connection.ts': row('engine/transport/ temporal/ lib/', '@temporalio/client'),
  'engine/transport/grpc/deno-http2.ts': row('', 'node:http2'),
  'engine/transport/http/schema.ts': row('engine/', '@temporalio/proto protobufjs'),

  'trace/': row('trace/ domain/ protocol/ store/ lib/', ''),
  'trace/from-file.ts': row('trace/ domain/ protocol/ lib/', 'node:fs node:fs/promises node:path'),

  'domain/': row('domain/ protocol/ lib/ log.ts', ''),
  'domain/new-id.ts': row('', 'uuid'),
  'domain/admission/check-input.ts': row('domain/ json-schema/ lib/', ''),

  'temporal/': row('temporal/ protocol/ lib/', '@temporalio/proto'),

  'worker/': row(
    'worker/ temporal/ protocol/ store/ lib/ config.ts config/ log.ts require-node.ts',
    '@temporalio/ node:',
  ),
  'worker/tracing/otel.ts': row('worker/tracing/span.ts protocol/', '@opentelemetry/api'),
  'worker/tracing/span.ts': row('protocol/', 'node:'),
  'worker/catalog/json-schema.ts': row('worker/ protocol/ lib/ json-schema/', 'zod'),
  'worker/catalog/zod-input-schema.ts': row('protocol/ lib/', 'zod'),

  'store/': row('store/ protocol/ lib/', 'ioredis aws4fetch'),
  'config.ts': row('config/ protocol/ lib/ log.ts', 'zod/mini'),
  'config/': row('config/ protocol/ lib/', 'zod/mini'),
  'log.ts': row('', ''),
  'node-version.ts': row('', ''),
  'require-node.ts': row('node-version.ts', ''),
  'version.ts': row('', ''),
  'protocol/': row('protocol/ lib/', ''),
  'protocol/catalog.ts': row('protocol/ lib/', 'zod/mini'),
  'protocol/checked-string.ts': row('', 'zod/mini'),
  'json-schema/': row('json-schema/ lib/', ''),
  'json-schema/patterns/compile-pattern.ts': row('json-schema/', 're2js'),
  'lib/': row('lib/', ''),
}

/** Files of src that are longer than 300 lines, each with the reason why it is still one thing. */
const LONG_FILES = new Map<string, string>([])

const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => `src/${file.replaceAll('\\', '/')}`)

test('architecture: each file imports only what its row of the table allows', () => {
  const faults = files.flatMap((file) => {
    const allowed = rowOf(file)
    if (allowed === null) return [`${file} has no row in the table`]
    return importsOf(file)
      .filter(({ target }) => !isAllowed(target, allowed))
      .map(({ target }) => `${file} may not import ${target}`)
  })

  expect(faults).toEqual([])
})

test('architecture: only tests import from test/', () => {
  const everywhere = ['src', 'dev', 'benchmarks', 'examples'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `${folder}/${file.replaceAll('\\', '/')}`),
  )
  // Also a path that a child process runs: `new URL('../test/…', import.meta.url)`.
  const importing = everywhere.filter((file) => /'(?:\.\.?\/)+test\//.test(textOf(file)))

  expect(everywhere.length).toBeGreaterThan(200)
  expect(importing).toEqual([])
})

test('architecture: no module imports itself, on whatever detour', () => {
  const circles = files.filter((file) => valueImportsOf(file).some((target) => reach(target).has(file)))

  expect(circles).toEqual([])
})

test('architecture: what runs on workerd is free of node: and of gRPC', () => {
  // The transports are handed in by the runtimes' entries; workerd's entry counts as soon as there is one.
  const entries = ['src/portico.ts', 'src/runtime/workerd.ts'].filter((file) => existsSync(join(ROOT, file)))
  const reached = entries.flatMap((entry) => [...reach(entry)])

  expect(reached).toContain('src/domain/create-workflows.ts')
  expect(reached.filter((name) => /^(node:|@grpc\/|@temporalio\/client)/.test(name))).toEqual([])
})

test('architecture: Temporal’s message types are loaded by what carries calls alone, and over HTTP by what bundles are without', () => {
  const loading = files.filter(
    (file) => file.startsWith('src/engine/') && valueImportsOf(file).includes('@temporalio/proto'),
  )

  expect(loading).toEqual(['src/engine/transport/grpc/rpc-error.ts', 'src/engine/transport/http/schema.ts'])
  expect(files.filter((file) => valueImportsOf(file).some((target) => target.startsWith('protobufjs')))).toEqual([])
})

test("architecture: what Temporal's workflow sandbox loads is free of zod", () => {
  const reached = [...reach('examples/workflows.ts'), ...reach('test/support/workflows.ts')]

  expect(reached).toContain('@temporalio/workflow')
  expect([...reached].filter((name) => name.startsWith('zod'))).toEqual([])
})

test('architecture: portico/span loads neither the worker nor zod', () => {
  const reached = [...reach('src/worker/tracing/span.ts')].filter((name) => !name.endsWith('.ts'))

  expect(reached).toEqual(['node:async_hooks', 'node:crypto'])
})

test('architecture: no file of src has more than 300 lines, but for those with a reason', () => {
  const long = files.filter((file) => textOf(file).split('\n').length > 300)

  expect(long).toEqual([...LONG_FILES.keys()])
})

test('architecture: no file is named after nothing', () => {
  const everywhere = ['src', 'test/support', 'dev', 'examples'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }),
  )

  expect(everywhere.filter((path) => /(^|[/\\])(utils?|helpers?|common|types)(\.|[/\\]|$)/.test(path))).toEqual([])
})

function row(ours: string, foreign: string): Row {
  const words = (text: string) => text.split(' ').filter((word) => word !== '')
  return { ours: words(ours).map((name) => `src/${name}`), foreign: words(foreign) }
}

function rowOf(file: string): Row | null {
  const names = Object.keys(MAY_IMPORT).filter((name) => covers(`src/${name}`, file))
  const longest = names.toSorted((a, b) => b.length - a.length)[0]
  return longest === undefined ? null : (MAY_IMPORT[longest] ?? null)
}

function isAllowed(target: string, { ours, foreign }: Row): boolean {
  return [...ours, ...foreign].some((name) => covers(name, target))
}

function covers(name: string, target: string): boolean {
  return /[/:]$/.test(name) ? target.startsWith(name) : target === name
}

interface Import {
  /** A path below the root, or the name of a package or builtin. */
  target: string
  isType: boolean
}

const STATIC_IMPORT = /^(?:import|export)\b(?<clause>[\w$\s,{}*]*?)(?:\bfrom\s+)?'(?<name>[^'\n]+)'/gm
const DYNAMIC_IMPORT = /(?<clause>typeof )?\bimport\(\s*'(?<name>[^'\n]+)'/g

function importsOf(file: string): Import[] {
  const text = textOf(file)
  return [...text.matchAll(STATIC_IMPORT), ...text.matchAll(DYNAMIC_IMPORT)].map(
    ({ groups: { clause = '', name = '' } = {} }) => ({
      target: name.startsWith('.') ? posix.join(posix.dirname(file), name) : name,
      isType: /^\s*type(of)?\b/.test(clause),
    }),
  )
}

function valueImportsOf(file: string): string[] {
  return importsOf(file)
    .filter(({ isType }) => !isType)
    .map(({ target }) => target)
}

/** The module, and all that is loaded with it: ours, and the names of packages. */
function reach(module: string, reached = new Set<string>()): Set<string> {
  if (reached.has(module)) return reached
  reached.add(module)
  if (module.endsWith('.ts')) for (const target of valueImportsOf(module)) reach(target, reached)
  return reached
}

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}
