import { configDefaults, defineConfig } from 'vitest/config'

const ON_EVERY_RUNTIME = ['test/runtimes/{bun,deno,workerd,life,scripts,package}.test.ts', 'test/runtimes/bundles/**/*.test.ts']

const onTheEngine = { globalSetup: 'test/support/one-engine.ts', testTimeout: 30_000, hookTimeout: 60_000 }

export default defineConfig({
  test: {
    // Most of what the tests do is to wait for real servers: two files at a time also on two cores.
    maxWorkers: 2,
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts', 'test/architecture.test.ts'] } },
      {
        test: {
          ...onTheEngine,
          name: 'real',
          include: ['test/{engines,traces,runtimes,worker,faults}/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...ON_EVERY_RUNTIME],
        },
      },
      { test: { ...onTheEngine, name: 'runtimes', include: ON_EVERY_RUNTIME } },
      { test: { ...onTheEngine, name: 'image', include: ['test/image/**/*.test.ts'] } },
      { test: { name: 'coverage', include: ['test/coverage.test.ts'] } },
    ],
  },
})
