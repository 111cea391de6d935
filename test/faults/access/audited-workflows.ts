/** The workflows of the tests, and one that asks two questions with one signal. */
export { asksInTurns } from '../../support/asking-workflows.ts'
export * from '../../support/workflows.ts'
