/** Import this first from what other programs import: it throws one clear error on a Node.js that is too old. */
import { nodeVersionFault } from './node-version.ts'

const fault = nodeVersionFault()
if (fault !== null) throw withoutFrames(new Error(fault))

/** The stack would only show where the version is compared. */
function withoutFrames(error: Error): Error {
  error.stack = String(error)
  return error
}
