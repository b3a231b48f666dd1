/* What curpsinfo, curlwpsinfo and curcpu say of the tracer, in whose context
 * BEGIN runs, agrees with what else is known of it. */
/* @opts: -q */
/* @args: "two words" */

BEGIN
{
	printf("%d %d %d %d %d\n", curpsinfo->pr_pid == $pid,
	    curpsinfo->pr_ppid == $ppid && ppid == $ppid,
	    curpsinfo->pr_pgid == $pgid, curpsinfo->pr_sid == $sid,
	    curpsinfo->pr_nlwp);
	printf("%d %d %d %d\n",
	    curpsinfo->pr_uid == $uid && uid == $uid,
	    curpsinfo->pr_euid == $euid,
	    curpsinfo->pr_gid == $gid && gid == $gid,
	    curpsinfo->pr_egid == $egid);
	printf("%d %d %d\n", curpsinfo->pr_dmodel == PR_MODEL_LP64,
	    curpsinfo->pr_wstat, curpsinfo->pr_argc);
	printf("%d %d\n", curpsinfo->pr_argv % 8,
	    curpsinfo->pr_envp - curpsinfo->pr_argv);
	printf("%d %d\n", curpsinfo->pr_fname == execname,
	    strlen(curpsinfo->pr_psargs) < 80);
	printf("%d\n", curpsinfo->pr_psargs == substr(execargs, 0, 79));
	printf("%d %d\n", curpsinfo->pr_start.tv_sec > 1000000000 &&
	    curpsinfo->pr_start.tv_sec <= walltimestamp / 1000000000,
	    curpsinfo->pr_start.tv_nsec < 1000000000);
	printf("%d %d %d\n", curlwpsinfo->pr_lwpid == tid,
	    curpsinfo->pr_lwp.pr_lwpid == tid,
	    curlwpsinfo->pr_addr == (uintptr_t)curthread);
	printf("%d %c %d\n", curlwpsinfo->pr_state == SONPROC,
	    curlwpsinfo->pr_sname, curlwpsinfo->pr_flag);
	printf("%s %d\n", curlwpsinfo->pr_name, curlwpsinfo->pr_bindpset);
	this->cpu = curcpu;
	printf("%d %d %d\n", this->cpu->cpu_id == curlwpsinfo->pr_onpro,
	    this->cpu->cpu_chip, (int)sizeof (*this->cpu));
	this->type = stringof(this->cpu->cpu_info.pi_processor_type);
	this->fpu = stringof(this->cpu->cpu_info.pi_fputypes);
	printf("%d %s %d\n", this->cpu->cpu_info.pi_state, this->type,
	    strstr(this->fpu, "fpu sse") == this->fpu);
	printf("%s\n", $$1);
	exit(0);
}

ERROR
{
	exit(1);
}
