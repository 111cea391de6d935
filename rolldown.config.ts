import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'rolldown'

// The worker kit's users bring their own SDK: two copies of it in one process do not know each other.
const sdk = /^@temporalio\//

const packages = ['hono', /^hono\//, 'zod', 'uuid', 're2js', /^protobufjs\//, 'ioredis', '@upstash/redis', 'aws4fetch']

export default defineConfig([
  {
    input: { node: 'src/runtime/node.ts', bun: 'src/runtime/bun.ts', deno: 'src/runtime/deno.ts', cli: 'src/runtime/cli.ts' },
    platform: 'node',
    // Asked by grpc-js for its channelz and ORCA services alone, which read .proto files that no bundle has.
    resolve: { alias: { '@grpc/proto-loader': file('src/runtime/no-proto-loader.ts') } },
    plugins: [leanProtos(['coresdk'])],
    output: { dir: 'dist', format: 'esm', minify: true, chunkFileNames: 'server-[name].js' },
  },
  {
    input: { workerd: 'src/runtime/workerd.ts' },
    platform: 'neutral',
    resolve: {
      mainFields: ['module', 'main'],
      conditionNames: ['workerd', 'worker', 'import', 'default'],
      alias: { ioredis: file('src/runtime/no-redis.ts') },
    },
    plugins: [leanProtos(['coresdk', 'grpc', 'temporal.api.cloud', 'temporal.api.operatorservice', 'temporal.api.testservice'])],
    output: { dir: 'dist', format: 'esm', minify: true, codeSplitting: false },
  },
  {
    input: { index: 'src/index.ts', worker: 'src/worker/index.ts' },
    platform: 'node',
    external: [sdk, ...packages],
    output: { dir: 'dist', format: 'esm', chunkFileNames: 'lib-[name].js' },
  },
])

interface Definitions {
  parsedOptions?: unknown
  nested?: Record<string, Definitions>
  [key: string]: unknown
}

/** Leaves out of Temporal's message definitions what nobody here asks for: these packages, and each option in its second spelling. */
function leanProtos(unused: string[]): Plugin {
  return {
    name: 'lean-protos',
    transform: {
      filter: { id: /@temporalio\/proto\/protos\/json-module\.js$/ },
      handler(code) {
        const [, before = '', json = '', after = ''] = /^(.*\.addJSON\()(\{.*\})(\);.*)$/s.exec(code) ?? []
        const nested = JSON.parse(json, (key, value) => (key === 'parsedOptions' ? undefined : value)) as Record<string, Definitions>
        for (const name of unused) remove(nested, name.split('.'))
        return `${before}JSON.parse(${JSON.stringify(JSON.stringify(nested))})${after}`
      },
    },
  }
}

function remove(packages: Record<string, Definitions> | undefined, [first = '', ...rest]: string[]): void {
  if (packages === undefined) return
  if (rest.length === 0) delete packages[first]
  else remove(packages[first]?.nested, rest)
}

function file(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}
