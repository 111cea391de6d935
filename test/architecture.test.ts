/** The rules of the layout: which module may import which. `source-files.test.ts` has those of the files themselves. */
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { linesOf, sourcesIn, textOf } from './support/repository.ts'

interface Row {
  /** Our modules: files, or folders with everything below. */
  ours: string[]
  /** Packages and builtins. One that ends in a slash or colon stands for all that start with it. */
  foreign: string[]
}

/**
 * What each file of src may import. Only the row with the longest matching name applies to a file.
 * Imports go only down: runtime, index → portico → telemetry → http, trace, engine → domain → temporal, store →
 * protocol, json-schema → lib.
 * worker is a second program: worker → temporal, store, protocol, json-schema, config, lib.
 * client is a third one, which loads lib alone: domain and protocol only have the types of responses.
 * cli is the command line: cli → client, json-schema, config, lib. It starts the service, but shares no module of it,
 * except the decisions of a policy, and the signatures of hooks.
 */
const MAY_IMPORT: Record<string, Row> = {
  'runtime/': row(
    'runtime/ lib/ portico.ts config.ts docs-page/ log.ts node-version.ts version.ts http/problem.ts http/shed-load.ts engine/transport/ trace/from-file.ts telemetry/host-tracer.ts telemetry/otlp/',
    '@hono/node-server node:',
  ),
  'cli/': row('cli/ client/ lib/ version.ts', 'commander node:'),
  'cli/completion.ts': row('cli/ client/ lib/', '@bomb.sh/tab/commander commander'),
  'cli/output/table.ts': row('cli/', 'string-width node:'),
  'cli/commands/dev.ts': row('cli/ json-schema/ lib/', 'node:'),
  'cli/typescript/': row('cli/typescript/ json-schema/ lib/', ''),
  'cli/settings.ts': row('cli/ config/', 'zod/mini'),
  'cli/commands/policy.ts': row('cli/ config/ lib/', 'node:'),
  'cli/commands/hooks.ts': row('cli/ client/ config/ http/hooks/ lib/', 'node:'),
  'cli/policy/': row('cli/ config/ domain/access/ domain/model/caller.ts protocol/policy-verbs.ts lib/', ''),
  'cli/main.ts': row('cli/run-cli.ts runtime/node/ runtime/bun.ts', ''),
  'cli/dev/': row('cli/dev/ config.ts lib/', 'node:'),
  'index.ts': row(
    'portico.ts config.ts log.ts require-node.ts docs-page/ runtime/engine-transport.ts domain/ engine/transport/',
    '',
  ),

  'portico.ts': row('namespace.ts config.ts log.ts version.ts domain/ http/ engine/ telemetry/ store/', ''),
  'namespace.ts': row('config.ts domain/ engine/ telemetry/ trace/ store/', ''),

  'docs-page/': row('docs-page/ http/endpoints/docs.ts lib/', ''),
  'docs-page/files.ts': row('http/endpoints/docs.ts', 'node:fs/promises'),

  'http/': row('http/ domain/ protocol/ lib/ log.ts', 'hono hono/ zod/mini'),
  'http/endpoints/mcp.ts': row('http/ mcp/ domain/ lib/ protocol/', 'hono zod/mini'),
  'http/credentials/': row('http/credentials/ domain/ lib/', 'jose'),
  'http/openapi/': row('http/ domain/ protocol/ json-schema/ lib/ version.ts', 'zod/mini'),
  'http/openapi/examples.ts': row('', 'node:fs/promises'),

  'mcp/': row('mcp/ domain/ protocol/ json-schema/ lib/ version.ts', ''),

  'engine/': row('engine/ domain/ temporal/ protocol/ lib/', '@temporalio/proto'),
  'engine/transport/grpc/connection.ts': row('engine/transport/ temporal/ lib/', '@temporalio/client'),
  'engine/transport/grpc/deno-http2.ts': row('', 'node:http2'),
  'engine/transport/http/schema.ts': row('engine/', '@temporalio/proto protobufjs'),

  'telemetry/': row('telemetry/ http/observe.ts domain/ engine/transport/transport.ts temporal/ lib/', ''),
  'telemetry/spans.ts': row('telemetry/ http/observe.ts version.ts', '@opentelemetry/api'),
  'telemetry/otlp/': row('telemetry/ log.ts version.ts', '@opentelemetry/'),

  'trace/': row('trace/ domain/ protocol/ store/ lib/', ''),
  'trace/from-file.ts': row('trace/ domain/ protocol/ lib/', 'node:fs node:fs/promises node:path'),

  'domain/': row('domain/ protocol/ lib/', ''),
  'domain/admission/check-input.ts': row('domain/ json-schema/ lib/', ''),

  'temporal/': row('temporal/ protocol/ lib/', '@temporalio/proto'),

  'worker/': row(
    'worker/ temporal/ protocol/ store/ lib/ config.ts config/ log.ts require-node.ts',
    '@temporalio/ node:',
  ),
  'worker/ask.ts': row('protocol/asks.ts', '@temporalio/workflow'),
  'worker/tracing/otel.ts': row('worker/tracing/span.ts protocol/', '@opentelemetry/api'),
  'worker/tracing/span.ts': row('protocol/', 'node:'),
  'worker/catalog/schemas/': row('worker/ protocol/ lib/ json-schema/', 'zod'),
  'worker/catalog/schemas/zod-input-schema.ts': row('protocol/ lib/', 'zod'),

  'client/': row('client/ domain/ protocol/ lib/', ''),

  'store/': row('store/ lib/', ''),
  'store/kv/redis.ts': row('store/ lib/', 'ioredis'),
  'store/kv/redis-client.ts': row('', 'ioredis'),
  'store/s3/signed-requests.ts': row('store/ lib/', 'aws4fetch'),
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

const MAX_SMALL_LINES = 25

/** Files that could be part of their only importer, each with the reason why they are not. */
const SMALL_FILES = new Map([
  ['src/engine/transport/grpc/deno-http2.ts', 'deleted as a whole once Deno is fixed: decision 021'],
  ['src/trace/from-kv.ts', 'a source of traces, like its neighbours'],
])

const files = sourcesIn('src')

test('architecture: each file imports only what its row of the table allows', () => {
  const violations = files.flatMap((file) => {
    const allowed = rowOf(file)
    if (allowed === null) return [`${file} has no row in the table`]
    return importsOf(file)
      .filter(({ target }) => !isAllowed(target, allowed))
      .map(({ target }) => `${file} may not import ${target}`)
  })

  expect(violations).toEqual([])
})

test('architecture: only tests import from test/', () => {
  const everywhere = sourcesIn('src', 'dev', 'benchmarks', 'examples')
  // Also a path that a child process runs: `new URL('../test/…', import.meta.url)`.
  const importing = everywhere.filter((file) => /'(?:\.\.?\/)+test\//.test(textOf(file)))

  expect(everywhere.length).toBeGreaterThan(200)
  expect(importing).toEqual([])
})

test('architecture: there are no import cycles, type imports included', () => {
  let remaining = new Set(files)
  while (true) {
    // A file that imports none of the others, or is imported by none, is not in a cycle.
    const importing = [...remaining].filter((file) => importsOf(file).some(({ target }) => remaining.has(target)))
    const imported = new Set(importing.flatMap((file) => importsOf(file).map(({ target }) => target)))
    const inCycles = importing.filter((file) => imported.has(file))
    if (inCycles.length === remaining.size) break
    remaining = new Set(inCycles)
  }

  expect([...remaining]).toEqual([])
})

test('architecture: workerd loads neither node: modules nor gRPC', () => {
  // Bundles contain the result of this module: dev/build/baked-openapi.ts.
  const baked = 'src/http/openapi/general-document.ts'
  const reached = ['src/portico.ts', 'src/runtime/workerd.ts'].flatMap((entry) => [...reach(entry, new Set([baked]))])

  expect(reached).toContain('src/domain/create-workflows.ts')
  expect(reached.filter((name) => /^(node:|@grpc\/|@temporalio\/client)/.test(name))).toEqual([])
})

test('architecture: jose is loaded with the first JWT', () => {
  const loadedAtStart = files.flatMap((file) =>
    importsOf(file).filter(({ target, isType, isLazy }) => target.endsWith('credentials/jwt.ts') && !isType && !isLazy),
  )
  const loading = files.filter((file) => valueImportsOf(file).includes('jose'))

  expect(loading).toEqual(['src/http/credentials/jwt.ts', 'src/http/credentials/key-set.ts'])
  expect(loadedAtStart).toEqual([])
})

test('architecture: src/mcp is loaded with the first message of its protocol', () => {
  const loading = files.flatMap((file) =>
    importsOf(file)
      .filter(({ target, isType }) => target.startsWith('src/mcp/') && !file.startsWith('src/mcp/') && !isType)
      .map(({ target, isLazy }) => ({ file, target, isLazy })),
  )

  expect(loading).toEqual([{ file: 'src/http/endpoints/mcp.ts', target: 'src/mcp/server.ts', isLazy: true }])
})

test('architecture: only transports load @temporalio/proto, and nothing loads protobufjs', () => {
  const loading = files.filter(
    (file) => file.startsWith('src/engine/') && valueImportsOf(file).includes('@temporalio/proto'),
  )

  expect(loading).toEqual(['src/engine/transport/grpc/rpc-error.ts', 'src/engine/transport/http/schema.ts'])
  expect(files.filter((file) => valueImportsOf(file).some((target) => target.startsWith('protobufjs')))).toEqual([])
})

test("architecture: Temporal's workflow sandbox does not load zod", () => {
  const reached = [...reach('examples/workflows.ts'), ...reach('test/support/workflows.ts')]

  expect(reached).toContain('@temporalio/workflow')
  expect([...reached].filter((name) => name.startsWith('zod'))).toEqual([])
})

test('architecture: portico/span loads neither the worker nor zod', () => {
  const reached = [...reach('src/worker/tracing/span.ts')].filter((name) => !name.endsWith('.ts'))

  expect(reached).toEqual(['node:async_hooks', 'node:crypto'])
})

test('architecture: portico/workflow loads only what the sandbox of workflows can run', () => {
  expect([...reach('src/worker/ask.ts')]).toEqual(['src/worker/ask.ts', '@temporalio/workflow', 'src/protocol/asks.ts'])
})

test('architecture: portico/client loads no part of the service, and no package', () => {
  const others = [...reach('src/client/index.ts')].filter((name) => !name.startsWith('src/client/'))

  expect(others.toSorted()).toEqual(
    ['abort', 'duration', 'error-code', 'not-sent', 'sent-once'].map((name) => `src/lib/${name}.ts`),
  )
})

test('architecture: a file of at most 25 lines that one other imports has a reason', () => {
  const imports = files.flatMap((file) => importsOf(file).map((one) => ({ ...one, file })))
  const importers = Map.groupBy(imports, ({ target }) => target)
  const small = files.filter((file) => {
    const [first, ...others] = importers.get(file) ?? []
    const isOnlyImporter = first !== undefined && others.every((other) => other.file === first.file)
    return linesOf(file) <= MAX_SMALL_LINES && isOnlyImporter && !first.isLazy
  })

  expect(small.toSorted()).toEqual([...SMALL_FILES.keys()])
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
  /** `import()` */
  isLazy: boolean
}

const STATIC_IMPORT = /^(?:import|export)\b(?<clause>[\w$\s,{}*]*?)(?:\bfrom\s+)?'(?<name>[^'\n]+)'/gm
const DYNAMIC_IMPORT = /(?<clause>typeof )?\bimport\(\s*'(?<name>[^'\n]+)'/g

const knownImports = new Map<string, Import[]>()

function importsOf(file: string): Import[] {
  const imports = knownImports.get(file) ?? readImports(file)
  knownImports.set(file, imports)
  return imports
}

function readImports(file: string): Import[] {
  const text = textOf(file)
  const matches = [STATIC_IMPORT, DYNAMIC_IMPORT].flatMap((pattern) => [...text.matchAll(pattern)])
  return matches.map(({ 0: statement, groups: { clause = '', name = '' } = {} }) => ({
    target: name.startsWith('.') ? posix.join(posix.dirname(file), name) : name,
    isType: /^\s*type(of)?\b/.test(clause),
    isLazy: statement.includes('import('),
  }))
}

function valueImportsOf(file: string): string[] {
  return importsOf(file)
    .filter(({ isType }) => !isType)
    .map(({ target }) => target)
}

/** The module and everything that is loaded with it: our files, and the names of packages. */
function reach(module: string, reached = new Set<string>()): Set<string> {
  if (reached.has(module)) return reached
  reached.add(module)
  if (module.endsWith('.ts')) for (const target of valueImportsOf(module)) reach(target, reached)
  return reached
}
