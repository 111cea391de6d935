import { NETWORK_ADDRESSES } from '../lib/network-address.ts'

// Longer messages do not help a reader.
const MAX_LENGTH = 2000

// The first line of a stack trace in JavaScript and Java, Python, and Go. The rest of the message is the stack.
const STACK = /(?:^|\n)(?:[ \t]+at \S|Traceback \(most recent|[ \t]*File "|goroutine \d+ \[).*$/s

// Absolute paths with at least two segments: `/orders` may be a route. Quoted paths may contain spaces.
const QUOTED_PATH = /(["'`])(?:file:\/\/|[A-Za-z]:[\\/]|\/)[^"'`\n]*[\\/][^"'`\n]*\1/g
const PATH = /(?<![\w/:.-])(?:(?:file:\/\/)?(?:\/[\w.@+~%-]+){2,}|[A-Za-z]:(?:[\\/][\w.@+~%-]+)+)/g

// Worker identities: SDKs build them from the process id and the host name.
const IDENTITY = /\b\d+@[\w.-]+/g

/** Removes stack traces, paths, network addresses and worker identities from an error message. */
export function redactMachineDetails(message: string): string {
  const text = message.slice(0, MAX_LENGTH).replace(STACK, '')
  const named = text.replace(QUOTED_PATH, '$1<path>$1').replace(PATH, '<path>').replace(IDENTITY, '<worker>')
  return named.replace(NETWORK_ADDRESSES, '<address>').slice(0, MAX_LENGTH).toWellFormed().trim()
}
