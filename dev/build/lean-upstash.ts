/** Removes from bundles the commands of Upstash's client that the service does not send: each is a class of its own. */
import type { Plugin } from 'rolldown'

const USED = new Set([
  ...['constructor', 'client', 'opts', 'use', 'addTelemetry', 'pipeline'],
  // Of a pipeline.
  ...['commands', 'commandOptions', 'multiExec', 'exec', 'chain'],
  ...['eval', 'lrange', 'rpush', 'pexpire'],
])

export function leanUpstash(): Plugin {
  return {
    name: 'lean-upstash',
    transform: {
      filter: { id: /@upstash\/redis\/chunk-\w+\.mjs$/ },
      handler: (code) => code.replace(/^var (?:Redis|Pipeline) = class \{\n(?: {2}.*\n|\n)*\};$/gm, withoutUnused),
    },
  }
}

/** A member begins with two spaces and its name. */
function withoutUnused(classCode: string): string {
  return classCode.replace(
    /^ {2}(?:get )?(\w+)(?: = |\(\) \{|\().*\n(?: {4}.*\n| {2}[)}\]].*\n|\n)*/gm,
    (member, name) => (USED.has(name) ? member : ''),
  )
}
