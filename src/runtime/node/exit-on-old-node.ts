/** Imported first by Node's entries. Prints an error and exits with 1 on a Node.js that is too old. */
import { nodeVersionFault } from '../../node-version.ts'

const fault = nodeVersionFault()
if (fault !== null) {
  console.error(fault)
  process.exit(1)
}
