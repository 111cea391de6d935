/** Bundles in ASCII alone: Bun reads what has its mark of a bundle as Latin-1. */
import type { Plugin } from 'rolldown'

export function asciiOnly(): Plugin {
  return {
    name: 'ascii-only',
    // After minifying, which writes characters in the place of their escapes.
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type === 'chunk') chunk.code = chunk.code.replace(/[^\0-\x7f]/g, escaped)
      }
    },
  }
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
