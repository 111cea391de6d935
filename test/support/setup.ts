/** Vitest setup file of all tests on the engine. */
import { setPriority } from 'node:os'
import { observeProcesses } from '../../dev/servers/process.ts'
import { checkInvariants, watchLines } from './invariants.ts'
import { checkLines } from './log-leak-recorder.ts'

// Every line that a process prints is checked for secrets and internal strings.
observeProcesses(checkLines)

checkInvariants()
observeProcesses(watchLines)

// All test files share one engine, which runs already. On a busy machine it has to respond within the deadlines of
// requests, so the tests and what they start leave it more of the processors.
setPriority(15)
