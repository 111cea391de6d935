import { fileURLToPath } from 'node:url'
import { defineConfig } from 'rolldown'
import { asciiOnly } from './dev/build/ascii-only.ts'
import { bakedHttpSchema } from './dev/build/baked-http-schema.ts'
import { bakedOpenApi } from './dev/build/baked-openapi.ts'
import { bakedPages, pageAssets, separatePages } from './dev/build/baked-pages.ts'
import { leanProtos } from './dev/build/lean-protos.ts'
import { leanUpstash } from './dev/build/lean-upstash.ts'
import { clientAsFile, serviceAsFile } from './dev/build/service-as-file.ts'
import { withThirdPartyFiles } from './dev/build/third-party-files.ts'

// Workers bring their own SDK. Two copies of it in one process would not share their state.
const sdk = /^@(temporalio|opentelemetry)\//

const packages = [
  '@grpc/grpc-js',
  '@upstash/redis',
  'hono',
  /^hono\//,
  /^zod(\/|$)/,
  're2js',
  'ioredis',
  'aws4fetch',
  'jose',
]

const configs = defineConfig([
  {
    input: {
      node: 'src/service/runtime/node/index.ts',
      bun: 'src/service/runtime/bun.ts',
      deno: 'src/service/runtime/deno.ts',
    },
    platform: 'node',
    resolve: {
      // OpenTelemetry's packages are five times as large as CommonJS.
      mainFields: ['module', 'main'],
      alias: {
        // The rest of the client, and the functions that convert payloads, are for programs that use its classes.
        '@temporalio/client$': file('node_modules/@temporalio/client/lib/connection.js'),
        '@temporalio/proto/lib/payload-visitor.generated': file('dev/build/empty-module.ts'),
        // Only grpc-js's channelz and ORCA services use it, which the service does not.
        '@grpc/proto-loader': file('dev/build/empty-module.ts'),
      },
    },
    plugins: [leanProtos(), leanUpstash(), bakedHttpSchema(), bakedOpenApi(), separatePages(), asciiOnly()],
    output: {
      dir: 'dist',
      format: 'esm',
      minify: true,
      chunkFileNames: 'server-[name].js',
      comments: { legal: true, annotation: false, jsdoc: false },
      // Bun does not transpile files with this comment (decision 020).
      postBanner: '// @bun',
    },
  },
  {
    input: { cli: 'src/cli/main.ts' },
    platform: 'node',
    // `portico archive` runs the worker kit, which brings its own packages.
    external: ['portico/worker'],
    plugins: [serviceAsFile()],
    output: { dir: 'dist', format: 'esm', minify: true, chunkFileNames: 'cli-[name].js' },
  },
  {
    input: { workerd: 'src/service/runtime/workerd.ts' },
    platform: 'neutral',
    resolve: {
      mainFields: ['module', 'main'],
      conditionNames: ['workerd', 'worker', 'module', 'import', 'default'],
      alias: { ioredis: file('dev/build/ioredis-on-workerd.ts') },
    },
    plugins: [leanUpstash(), bakedHttpSchema(), bakedOpenApi(), pageAssets('workerd-assets')],
    output: {
      dir: 'dist',
      format: 'esm',
      minify: true,
      codeSplitting: false,
      comments: { legal: true, annotation: false, jsdoc: false },
    },
  },
  {
    input: { client: 'src/client/index.ts' },
    platform: 'neutral',
    // Node prints the line that throws, and a stack has the names. The bundlers of applications minify it.
    output: { dir: 'dist', format: 'esm', comments: false, codeSplitting: false },
  },
  {
    input: { bulk: 'src/client/requests/bulk.ts' },
    platform: 'neutral',
    plugins: [clientAsFile()],
    output: { dir: 'dist', format: 'esm', comments: false, codeSplitting: false },
  },
  {
    // The SDK bundles it once more, together with the workflows that import it.
    input: { workflow: 'src/worker/ask.ts' },
    platform: 'neutral',
    external: [sdk],
    output: { dir: 'dist', format: 'esm', codeSplitting: false },
  },
  {
    input: {
      index: 'src/index.ts',
      worker: 'src/worker/index.ts',
      span: 'src/worker/tracing/span.ts',
      otel: 'src/worker/tracing/otel.ts',
    },
    platform: 'node',
    external: [sdk, ...packages],
    plugins: [bakedHttpSchema(), bakedOpenApi(), separatePages()],
    output: { dir: 'dist', format: 'esm', chunkFileNames: 'lib-[name].js' },
  },
  {
    // The entries above load each with the first request for its page (decision 020).
    input: { 'docs-page': 'src/service/fronts/docs/files.ts', console: 'src/service/fronts/console/files.ts' },
    platform: 'node',
    plugins: [bakedPages(), asciiOnly()],
    output: { dir: 'dist', format: 'esm', minify: true, postBanner: '// @bun' },
  },
])

export default withThirdPartyFiles(configs)

function file(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}
