import { Platform } from "obsidian";

const START_MS = 120_000;

/**
 * Runs the command that the daemon recorded and waits until it has ended: then the daemon answers. Rejects with what
 * the command printed. The caller has asked the user for permission. The working folder is that of the program, never the
 * vault: Python may import what lies there.
 */
export async function startDaemon(command: readonly string[]): Promise<void> {
  const [program, ...parameters] = command;
  if (!Platform.isDesktop || program === undefined) throw new Error("The start command is not known");
  const { execFile } = await import("child_process");
  const cwd = program.replace(/[/\\][^/\\]*$/, "/");
  await new Promise<void>((resolve, reject) => {
    execFile(program, parameters, { cwd, timeout: START_MS, windowsHide: true }, (error, _output, complaint) => {
      if (error) reject(new Error(complaint.trim() || error.message));
      else resolve();
    });
  });
}
