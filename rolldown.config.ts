import { defineConfig } from 'rolldown'

// The worker kit's users bring their own SDK: two copies of it in one process do not know each other.
const sdk = /^@temporalio\//

export default defineConfig([
  {
    input: { node: 'src/runtime/node.ts' },
    platform: 'node',
    output: { dir: 'dist', format: 'esm', minify: true, chunkFileNames: 'node-[name].js' },
  },
  {
    input: { index: 'src/index.ts', worker: 'src/worker/index.ts' },
    platform: 'node',
    external: [sdk, 'hono', /^hono\//, 'zod', 'uuid', '@cfworker/json-schema'],
    output: { dir: 'dist', format: 'esm', chunkFileNames: 'lib-[name].js' },
  },
])
