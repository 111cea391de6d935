/** JSON Pointers: https://www.rfc-editor.org/rfc/rfc6901. */

/** A key, escaped as one step of a JSON Pointer. */
export function escapePointer(key: string | number): string {
  return String(key).replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The pointer that follows `keys` from the root; empty for the root itself. */
export function toPointer(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${escapePointer(key)}`).join('')
}

/** The keys of a pointer, from the root down. */
export function pointerKeys(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** What is wrong with a pointer, or null. */
export function pointerIssue(pointer: string): string | null {
  return /^(?:\/(?:[^~/]|~[01])*)*$/.test(pointer) ? null : 'must be a JSON Pointer, in which ~0 is ~ and ~1 is /'
}
