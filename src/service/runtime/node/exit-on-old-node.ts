/** The first import of Node's entries. Prints an error and exits with 1 on a Node.js that is too old. */
import { nodeVersionIssue } from '../../../node-version.ts'

const issue = nodeVersionIssue()
if (issue !== null) {
  console.error(issue)
  process.exit(1)
}
