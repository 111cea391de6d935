import { NETWORK_ADDRESSES } from '../lib/network-address.ts'

// What is longer tells a person nothing more.
const MAX_LENGTH = 2000

// Of JavaScript and Java, Python, Go: the rest of the text is the stack.
const STACK = /(?:^|\n)(?:[ \t]+at \S|Traceback \(most recent|[ \t]*File "|goroutine \d+ \[).*$/s

// Absolute ones of two names at least (`/orders` may be a route); in quotes their names may hold spaces.
const QUOTED_PATH = /(["'`])(?:file:\/\/|[A-Za-z]:[\\/]|\/)[^"'`\n]*[\\/][^"'`\n]*\1/g
const PATH = /(?<![\w/:.-])(?:(?:file:\/\/)?(?:\/[\w.@+~%-]+){2,}|[A-Za-z]:(?:[\\/][\w.@+~%-]+)+)/g

// As the SDKs make them of process and host.
const IDENTITY = /\b\d+@[\w.-]+/g

/** A message of a worker's own runtime, without what it tells of the machine: stack, paths, addresses, identities. */
export function withoutMachine(message: string): string {
  const text = message.slice(0, MAX_LENGTH).replace(STACK, '')
  const named = text.replace(QUOTED_PATH, '$1<path>$1').replace(PATH, '<path>').replace(IDENTITY, '<worker>')
  return named.replace(NETWORK_ADDRESSES, '<address>').slice(0, MAX_LENGTH).toWellFormed().trim()
}
