import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts', 'test/architecture.test.ts'] } },
      {
        test: {
          name: 'real',
          include: ['test/{engines,traces,runtimes,worker,faults}/**/*.test.ts'],
          globalSetup: 'test/support/one-engine.ts',
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      { test: { name: 'coverage', include: ['test/coverage.test.ts'] } },
    ],
  },
})
