#!/usr/bin/perl
# task.pl POOL USER LOG PID: a task of Proxmox VE that shows LOG as it grows, until its last line begins with END.
# If the process PID ends without that line, the task ends with an error. Returns as soon as the task has begun.
use strict;
use warnings;

use PVE::RPCEnvironment;

my ($pool, $user, $log, $pid) = @ARGV;
die "usage: task.pl POOL USER LOG PID\n" if !defined($pid) || $pid !~ m/^\d+$/;

my $follow = sub {
    open(my $file, '<', $log) or die "cannot read $log: $!\n";
    my $half = '';
    while (1) {
        my $is_alive = -d "/proc/$pid";    # looked up before reading, so that nothing written at the end is missed
        while (defined(my $part = readline($file))) {
            $half .= $part;
            next if $half !~ m/\n\z/;
            return if $half =~ m/^END OK/;
            die "$1\n" if $half =~ m/^END ERROR (.*)/;
            print $half;
            $half = '';
        }
        die "interrupted; NAS Advisor offers to finish or undo it\n" if !$is_alive;
        sleep(1);
        seek($file, 0, 1);                 # makes readline() look again after the end of the file
    }
};

PVE::RPCEnvironment->setup_default_cli_env();
my ($upid) = PVE::RPCEnvironment->get()->fork_worker('nasadvisor', $pool, $user, $follow, 1);
print "$upid\n";
