export async function step(number: number): Promise<number> {
  return number
}
