/** Plain workflows for the whole suite: each does one thing a workflow can do. They know nothing of Portico. */
export * from './workflows/chains.ts'
export * from './workflows/failures.ts'
export * from './workflows/messages.ts'
export * from './workflows/older.ts'
export * from './workflows/steps.ts'
export * from './workflows/stopping.ts'
export * from './workflows/streams.ts'
export * from './workflows/values.ts'
