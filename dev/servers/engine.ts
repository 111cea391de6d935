/** Part of the package, for `portico dev`; tests and benchmarks use it too. */
export * from '../../src/cli/dev/servers/engine.ts'
