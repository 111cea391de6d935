import { defineConfig } from 'rolldown'

// The worker kit's users bring their own SDK: two copies of it in one process do not know each other.
const sdk = /^@temporalio\//

export default defineConfig([
  {
    input: { node: 'src/runtime/node.ts', bun: 'src/runtime/bun.ts', deno: 'src/runtime/deno.ts', cli: 'src/runtime/cli.ts' },
    platform: 'node',
    output: { dir: 'dist', format: 'esm', minify: true, chunkFileNames: 'server-[name].js' },
  },
  {
    input: { workerd: 'src/runtime/workerd.ts' },
    platform: 'neutral',
    resolve: { mainFields: ['module', 'main'], conditionNames: ['workerd', 'worker', 'import', 'default'] },
    output: { dir: 'dist', format: 'esm', minify: true, codeSplitting: false },
  },
  {
    input: { index: 'src/index.ts', worker: 'src/worker/index.ts' },
    platform: 'node',
    external: [sdk, 'hono', /^hono\//, 'zod', 'uuid', 're2js', /^protobufjs\//],
    output: { dir: 'dist', format: 'esm', chunkFileNames: 'lib-[name].js' },
  },
])
