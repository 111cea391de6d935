/** Entry of the suite for Node, Bun and Deno. */
import process from 'node:process'
import { runSuite } from './run-suite.ts'

// A call may reject before its case awaits it. The case reports that.
process.on('unhandledRejection', () => {})

await runSuite(process.argv[2] ?? '')
