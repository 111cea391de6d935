/** Vitest setup file: every line that a process prints is checked for secrets and internal strings. */
import { observeProcesses } from '../../dev/servers/process.ts'
import { checkLines } from './log-leak-recorder.ts'

observeProcesses(checkLines)
