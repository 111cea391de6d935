/** Workers look workflows and handlers up in plain objects, where these names are always found. */
export function objectNameFault(name: string): string | null {
  return Object.hasOwn(Object.prototype, name) ? 'belongs to every JavaScript object' : null
}
