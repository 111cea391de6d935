/** Entry of the suite for browsers: a script of a page of the test's server. */
import { runSuite } from './run-suite.ts'

await runSuite(location.origin)
