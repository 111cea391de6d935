/** Entry of the suite for Node, Bun and Deno. */
import process from 'node:process'
import { runSuite } from './run-suite.ts'

await runSuite(process.argv[2] ?? '')
