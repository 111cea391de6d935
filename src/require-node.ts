/** The first import of the entries for other programs. Throws a clear error on a Node.js that is too old. */
import { nodeVersionIssue } from './node-version.ts'

const issue = nodeVersionIssue()
if (issue !== null) throw withoutFrames(new Error(issue))

/** The stack would only show this file. */
function withoutFrames(error: Error): Error {
  error.stack = String(error)
  return error
}
