import { configDefaults, defineConfig } from 'vitest/config'

// What these spend of the processor is what they are about: nothing of ours runs beside them.
const MEASURING = ['test/faults/schemas*.test.ts']

const onTheEngine = {
  globalSetup: 'test/support/one-engine.ts',
  setupFiles: 'test/support/watch-processes.ts',
  testTimeout: 30_000,
  hookTimeout: 60_000,
}

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'test/architecture.test.ts'],
          // They leave nothing behind: a module is loaded once for all of them, which takes two thirds of their time.
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      { test: { ...onTheEngine, name: 'measuring', include: MEASURING, maxWorkers: 1, sequence: { groupOrder: 1 } } },
      {
        test: {
          ...onTheEngine,
          name: 'real',
          include: ['test/{engines,traces,runtimes,worker,faults,compatibility}/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...MEASURING],
          // Most of what they do is to wait for real servers: three files at a time also on two cores.
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
      { test: { ...onTheEngine, name: 'image', include: ['test/image/**/*.test.ts'] } },
      { test: { name: 'coverage', include: ['test/coverage.test.ts'] } },
    ],
  },
})
