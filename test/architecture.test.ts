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
 * Imports go only down. In the service: runtime → portico, namespace → stack → telemetry, openapi, fronts → http →
 * verbs, traces → access → ports, engine (as a port) → model → shared. `worker`, `client` and `cli` are programs of
 * their own, which share only `shared/` with the service: the client has the types of responses of its model, and the
 * command line starts it.
 */
const MAY_IMPORT: Record<string, Row> = {
  'index.ts': row('log.ts require-node.ts service/ shared/config.ts', ''),
  'log.ts': row('', ''),
  'node-version.ts': row('', ''),
  'require-node.ts': row('node-version.ts', ''),
  'version.ts': row('', ''),

  'shared/lib/': row('shared/lib/', ''),
  'shared/lib/watch-files.ts': row('shared/lib/', 'node:fs/promises'),
  'shared/jwt/': row('shared/jwt/ shared/access/patterns.ts shared/lib/', 'jose'),
  'shared/jwt/jwt-error.ts': row('', ''),
  'shared/json-schema/': row('shared/json-schema/ shared/lib/', ''),
  'shared/json-schema/compile-pattern.ts': row('shared/json-schema/', 're2js'),
  'shared/access/': row('shared/access/ shared/lib/', ''),
  'shared/hooks/': row('shared/hooks/ shared/access/patterns.ts shared/lib/', ''),
  'shared/trace-view/': row('shared/trace-view/ shared/wire/trace/', ''),
  'shared/wire/': row('shared/wire/ shared/lib/', ''),
  'shared/wire/catalog.ts': row('shared/wire/ shared/lib/', 'zod/mini'),
  'shared/wire/checked-string.ts': row('', 'zod/mini'),
  'shared/temporal/': row('shared/temporal/ shared/wire/ shared/lib/', '@temporalio/proto'),
  'shared/stores/': row('shared/stores/ shared/lib/', ''),
  'shared/stores/kv/redis.ts': row('shared/stores/ shared/lib/', 'ioredis'),
  'shared/stores/kv/create-redis.ts': row('shared/stores/ shared/lib/', 'ioredis'),
  'shared/stores/kv/redis-client.ts': row('shared/stores/ shared/lib/', 'ioredis'),
  'shared/stores/kv/upstash.ts': row('shared/stores/ shared/lib/', '@upstash/redis'),
  'shared/stores/s3/signed-requests.ts': row('shared/stores/ shared/lib/', 'aws4fetch'),
  'shared/config.ts': row('shared/ log.ts', 'zod/mini'),
  'shared/config/': row('shared/ log.ts', 'zod/mini'),

  'service/': row('service/ shared/lib/ shared/wire/ shared/access/', ''),
  'service/model/': row('service/model/ shared/access/ shared/lib/ shared/wire/', ''),
  'service/catalog/check-input.ts': row('service/ shared/json-schema/ shared/lib/', ''),
  'service/engine/': row(
    'service/engine/ service/model/ shared/temporal/ shared/wire/ shared/lib/',
    '@temporalio/proto',
  ),
  'service/engine/transport/grpc/connection.ts': row(
    'service/engine/transport/ shared/temporal/ shared/lib/',
    '@temporalio/client',
  ),
  'service/engine/transport/grpc/tls-credentials.ts': row('service/engine/transport/', '@grpc/grpc-js'),
  'service/engine/transport/grpc/deno-http2.ts': row('', 'node:http2'),
  'service/engine/transport/http/schema.ts': row('service/engine/', '@temporalio/proto protobufjs'),
  'service/traces/': row('service/traces/ service/model/ service/catalog/ service/ports.ts shared/', ''),
  'service/traces/from-file.ts': row('service/traces/ service/model/ shared/', 'node:fs node:fs/promises node:path'),
  'service/http/': row(
    'service/http/ service/access/ service/model/ service/verbs.ts shared/access/ shared/hooks/ shared/lib/ shared/wire/ log.ts',
    'hono hono/ zod/mini',
  ),
  'service/http/credentials/': row(
    'service/http/credentials/ service/access/ service/model/ shared/access/ shared/jwt/ shared/lib/',
    '',
  ),
  'service/openapi/': row(
    'service/openapi/ service/http/ service/fronts/ service/endpoints.ts service/model/ shared/json-schema/ shared/lib/ shared/wire/ version.ts',
    'zod/mini',
  ),
  'service/openapi/examples.ts': row('', 'node:fs/promises'),
  'service/fronts/': row('service/fronts/ service/http/ service/model/ service/verbs.ts shared/', 'hono zod/mini'),
  'service/fronts/links/': row(
    'service/fronts/links/ service/http/ service/links/ service/model/ shared/lib/ shared/wire/',
    'hono zod/mini',
  ),
  'service/fronts/mcp/': row(
    'service/fronts/mcp/ service/http/ service/catalog/ service/model/ service/verbs.ts shared/ version.ts',
    'hono zod/mini',
  ),
  'service/fronts/packed-file.ts': row('service/http/page-files.ts', 'node:zlib'),
  'service/fronts/docs/files.ts': row('service/fronts/packed-file.ts service/http/page-files.ts', 'node:fs/promises'),
  'service/fronts/console/': row(
    'service/fronts/console/ service/fronts/packed-file.ts service/http/ shared/lib/',
    'node:fs/promises node:url rolldown',
  ),
  'service/fronts/console/page/': row(
    'service/fronts/console/page/ service/model/run-filter.ts client/responses.ts shared/access/ shared/trace-view/ shared/wire/ shared/lib/',
    'hono/jsx/dom',
  ),
  'service/stack.ts': row('service/ shared/', 'hono'),
  'service/app-options.ts': row(
    'service/fronts.ts service/fronts/ service/http/ service/model/ service/openapi/ service/verbs.ts shared/',
    '',
  ),
  'service/metrics-app.ts': row('service/http/ log.ts', 'hono hono/'),
  'service/portico.ts': row('service/ shared/ log.ts version.ts', ''),
  'service/namespace.ts': row('service/ shared/', ''),
  'service/telemetry/': row(
    'service/telemetry/ service/http/pipeline/observe.ts service/engine/transport/transport.ts service/model/ shared/temporal/ shared/lib/',
    '',
  ),
  'service/telemetry/spans.ts': row(
    'service/telemetry/ service/http/pipeline/observe.ts version.ts',
    '@opentelemetry/api',
  ),
  'service/telemetry/otlp/': row('service/telemetry/ log.ts version.ts', '@opentelemetry/'),
  'service/runtime/': row(
    'service/runtime/ service/portico.ts service/engine/transport/ service/fronts/page-assets.ts service/fronts/docs/ service/fronts/console/ service/http/ service/telemetry/ service/traces/from-file.ts shared/config.ts shared/lib/ log.ts node-version.ts version.ts',
    '@hono/node-server node:',
  ),

  'worker/': row('worker/ shared/ log.ts require-node.ts', '@temporalio/ node:'),
  'worker/ask.ts': row('shared/wire/asks.ts', '@temporalio/workflow'),
  'worker/tracing/otel.ts': row('worker/tracing/span.ts shared/wire/', '@opentelemetry/api'),
  'worker/tracing/span.ts': row('shared/wire/', 'node:'),
  'worker/catalog/schemas/': row('worker/ shared/wire/ shared/lib/ shared/json-schema/', 'zod'),
  'worker/catalog/schemas/zod-schema.ts': row('worker/catalog/schemas/ shared/lib/', 'zod'),

  'client/': row('client/ service/model/ shared/wire/ shared/lib/', ''),

  'cli/': row('cli/ client/ shared/lib/ version.ts', 'commander node:'),
  'cli/completion.ts': row('cli/ client/ shared/lib/', '@bomb.sh/tab/commander commander'),
  'cli/output/table.ts': row('cli/', 'string-width node:'),
  'cli/output/timeline.ts': row('cli/output/ client/ shared/trace-view/ shared/wire/trace/', ''),
  'cli/commands/': row('cli/ client/ shared/ version.ts', 'commander node:'),
  'cli/typescript/': row('cli/typescript/ shared/json-schema/ shared/lib/', ''),
  'cli/settings.ts': row('cli/ shared/config/', 'zod/mini'),
  'cli/policy/': row('cli/ shared/', ''),
  'cli/main.ts': row('cli/run-cli.ts service/runtime/node/ service/runtime/bun.ts', ''),
  'cli/dev/': row('cli/dev/ shared/config.ts shared/lib/', 'node:'),
}

const MAX_SMALL_LINES = 25

/** Files that could be part of their only importer, each with the reason why they are not. */
const SMALL_FILES = new Map([
  ['src/service/engine/transport/grpc/deno-http2.ts', 'deleted as a whole once Deno is fixed: decision 021'],
  ['src/service/http/credentials/jwt.ts', 'the boundary between jose, loaded with the first JWT, and our errors'],
  ['src/service/traces/from-kv.ts', 'a source of traces, like its neighbours'],
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
  const everywhere = sourcesIn('src', 'dev', 'lab/benchmarks', 'examples')
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
  const baked = 'src/service/openapi/general-document.ts'
  const reached = ['src/service/portico.ts', 'src/service/runtime/workerd.ts'].flatMap((entry) => [
    ...reach(entry, new Set([baked])),
  ])

  expect(reached).toContain('src/service/stack.ts')
  expect(reached.filter((name) => /^(node:|@grpc\/|@temporalio\/client)/.test(name))).toEqual([])
})

test('architecture: the JSON Schema checker is loaded with the first schema, or with the front for agents', () => {
  const loading = files.filter((file) =>
    importsOf(file).some(
      ({ target, isType, isLazy }) =>
        /catalog\/check-input\.ts$|json-schema\/compile\.ts$/.test(target) && !isType && !isLazy,
    ),
  )
  const inService = loading.filter((file) => file.startsWith('src/service/'))

  expect(inService).toEqual(['src/service/catalog/check-input.ts', 'src/service/fronts/mcp/tasks/asks.ts'])
})

test('architecture: jose is loaded with the first JWT', () => {
  const loadedAtStart = files.flatMap((file) =>
    importsOf(file).filter(
      ({ target, isType, isLazy }) => /credentials\/jwt\.ts$|policy\/read-jwt\.ts$/.test(target) && !isType && !isLazy,
    ),
  )
  const loading = files.filter((file) => valueImportsOf(file).includes('jose'))

  expect(loading).toEqual(['src/shared/jwt/key-set.ts', 'src/shared/jwt/verify-jwt.ts'])
  expect(loadedAtStart).toEqual([])
})

test('architecture: src/service/fronts/mcp is loaded with the first message of its protocol', () => {
  const loading = files.flatMap((file) =>
    importsOf(file)
      .filter(
        ({ target, isType }) =>
          target.startsWith('src/service/fronts/mcp/') &&
          (!file.startsWith('src/service/fronts/mcp/') || target.endsWith('/server.ts')) &&
          !isType,
      )
      .map(({ target, isLazy }) => ({ file, target, isLazy })),
  )

  expect(loading).toEqual([
    { file: 'src/service/fronts.ts', target: 'src/service/fronts/mcp/endpoints.ts', isLazy: false },
    { file: 'src/service/fronts/mcp/endpoints.ts', target: 'src/service/fronts/mcp/server.ts', isLazy: true },
  ])
})

test('architecture: only transports load @temporalio/proto, and nothing loads protobufjs', () => {
  const loading = files.filter(
    (file) => file.startsWith('src/service/engine/') && valueImportsOf(file).includes('@temporalio/proto'),
  )

  expect(loading).toEqual([
    'src/service/engine/transport/grpc/rpc-error.ts',
    'src/service/engine/transport/http/schema.ts',
  ])
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
  expect([...reach('src/worker/ask.ts')]).toEqual([
    'src/worker/ask.ts',
    '@temporalio/workflow',
    'src/shared/wire/asks.ts',
  ])
})

test('architecture: portico/client loads no part of the service, and no package', () => {
  const others = [...reach('src/client/index.ts')].filter((name) => !name.startsWith('src/client/'))

  expect(others.toSorted()).toEqual([
    ...[
      'abort',
      'duration',
      'error-code',
      'event-stream',
      'not-sent',
      'percent-encode',
      'retry-after',
      'sent-once',
      'single-flight',
    ].map((name) => `src/shared/lib/${name}.ts`),
    ...['position', 'run-ref'].map((name) => `src/shared/wire/${name}.ts`),
  ])
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
