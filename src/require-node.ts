/** Imported first by the entries that other programs import. Throws a clear error on a Node.js that is too old. */
import { nodeVersionFault } from './node-version.ts'

const fault = nodeVersionFault()
if (fault !== null) throw withoutFrames(new Error(fault))

/** The stack would only show this file. */
function withoutFrames(error: Error): Error {
  error.stack = String(error)
  return error
}
