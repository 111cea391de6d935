/** Import this first from an entry of Node's: it prints one sentence and exits with 1 on a Node.js that is too old. */
import { nodeVersionFault } from '../../node-version.ts'

const fault = nodeVersionFault()
if (fault !== null) {
  console.error(fault)
  process.exit(1)
}
