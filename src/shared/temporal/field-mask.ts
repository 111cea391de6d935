/** The name of a field as the paths of a `FieldMask` have it: `retry_policy`. */
export function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
