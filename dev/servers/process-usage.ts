/** What a process of this machine uses, from Linux's /proc. */
import { readFileSync } from 'node:fs'

/** User and system time of the process so far, in milliseconds. Linux counts it in hundredths of a second. */
export function cpuMsOf(pid: number): number {
  // The name of the program, in parentheses, may contain spaces:
  // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

export function residentMiB(pid: number): number {
  const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) / 1024
}
