/** Whether the pattern means the same in JSON Schema, whose patterns have no flags and behave as with `u`. */
export function isExactPattern({ flags, source }: Pick<RegExp, 'flags' | 'source'>): boolean {
  return !/[imsv]/.test(flags) && (flags.includes('u') || !/\\[pPu]\{/.test(source))
}
